import type { Random } from '../model/random.ts'
import type { Sent } from '../support/client.ts'
import type { Step, Subject } from './step.ts'

export type Fields = Readonly<Record<string, unknown>>

export type Maker = (subject: Subject, random: Random) => Step

export const names = ['a', 'b', 'c', 'd']

export const labels: readonly Fields[] = [{}, { app: 'x' }, { app: 'y', tier: 'web' }]

export const options = [
  '',
  '',
  '',
  '?fieldValidation=Strict',
  '?fieldValidation=Ignore',
  '?fieldValidation=Warn',
  '?dryRun=All',
  '?fieldManager=tester',
]

export const manifest = (subject: Subject, name: string, metadata: Fields, body: Fields): Fields => ({
  apiVersion: subject.apiVersion,
  kind: subject.kind,
  metadata: { name, ...metadata },
  ...body,
})

export const bodyOf = (subject: Subject, random: Random): Fields =>
  random.chance(0.6) ? subject.accepted() : subject.random()

/** A step for one object. */
export function about(
  subject: Subject,
  name: string,
  what: string,
  rest: { query?: string; sub?: string; sent: Step['sent'] },
): Step {
  const object = `${subject.collection}/${name}`
  const path = `${object}${rest.sub ?? ''}${rest.query ?? ''}`
  return { about: `${subject.kind} ${name}: ${what}`, path, object, sent: rest.sent }
}

export const sends = (method: string, body: unknown, type?: string): Sent => ({
  method,
  body: body as object,
  ...(type && { headers: { 'content-type': type } }),
})
