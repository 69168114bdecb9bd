import type { KubeObject } from '../../framework/meta/object.ts'
import { apiBindingToV1, apiBindingToV2 } from './apibinding.ts'
import { apiExportToV1, apiExportToV2 } from './apiexport.ts'

/** Turns an object of one kind into another of its versions; the same object when it is in that version already. */
export type Convert = (object: KubeObject, version: string) => KubeObject

const between =
  (toV1: (object: KubeObject) => KubeObject, toV2: (object: KubeObject) => KubeObject): Convert =>
  (object, version) => {
    if (object.apiVersion === `apis.kcp.io/${version}`) return object
    return version === 'v1alpha1' ? toV1(object) : toV2(object)
  }

/**
 * The kinds with structural differences between their versions, by `<plural>.<group>` (kcp
 * `sdk/apis/apis/v1alpha2/conversion.go`).
 */
export const conversions: ReadonlyMap<string, Convert> = new Map([
  ['apiexports.apis.kcp.io', between(apiExportToV1, apiExportToV2)],
  ['apibindings.apis.kcp.io', between(apiBindingToV1, apiBindingToV2)],
])
