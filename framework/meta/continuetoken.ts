import { badRequest, type StatusError } from './errors.ts'

/** 400 for a continue token that cannot be used. Source: `DecodeContinue` of `k8s.io/apiserver/pkg/storage/continue.go`. */
export const invalidContinueToken = (why: string): StatusError =>
  badRequest(`invalid continue token: continue key is not valid: ${why}`)
