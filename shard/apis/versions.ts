import { invalid } from '../../framework/errors.ts'
import { apiVersionOf, type KubeObject } from '../../framework/object.ts'
import type { ResourceStorage } from '../../framework/storage.ts'
import { type Lens, viewOf } from '../../framework/view.ts'
import { compileCached } from '../../openapi/compile.ts'
import type { ConversionWebhook, KindDefinition } from '../../openapi/definitions/definition.ts'
import { conversions } from '../conversion/conversions.ts'
import type { ConvertObjects } from '../conversion/webhook.ts'
import { type Conversion, convertedStorage, webhookConversion } from './converted.ts'
import { type Served, servedName, storageVersionOf } from './served.ts'

/** Turns an object into one version of its kind; the same object when it is in that version already. */
type Convert = (object: KubeObject, version: string) => KubeObject

/** Strategy `None`: apiVersion is rewritten, what the version does not know is pruned (chapter 40, rule 7.41). */
const renaming =
  ({ group, versions }: KindDefinition): Convert =>
  (object, version) => {
    const apiVersion = apiVersionOf(group, version)
    const target = versions.find(v => v.name === version)
    if (object.apiVersion === apiVersion || target === undefined) return object
    return compileCached(target.schema).decode({ ...object, apiVersion }).object
  }

/** How the versions of a kind become each other: kcp's own two kinds by rules of their own, all others by name. */
const convertOf = (served: Served): Convert =>
  conversions.get(servedName(served)) ?? renaming(served.definition)

/** How objects that may be stored in other versions look in `version`, and how they come back into the stored one. */
export function versionLens(served: Served, version: string): Lens {
  const { definition } = served
  const convert = convertOf(served)
  const schema = definition.versions.find(v => v.name === version)?.schema ?? {}
  const stored = storageVersionOf(definition)
  const { group, names } = definition
  return {
    present: object => convert(object, version),
    accept(object, current) {
      const errors = version === stored ? [] : compileCached(schema).validate(object, current)
      if (errors.length > 0) throw invalid(names.kind, group, object.metadata.name ?? '', errors)
      return convert(object, stored)
    },
  }
}

/** Whether every stored object is in this version, so that its bytes can be sent as they are. */
export const isStoredAs = ({ storedVersions }: Served, version: string): boolean =>
  storedVersions.every(stored => stored === version)

/** Shows storages of stored versions in others. */
export type InVersion = (storage: ResourceStorage, served: Served, version: string) => ResourceStorage

/** `converter` makes what asks a kind's conversion webhook. */
export function versioning(converter: (webhook: ConversionWebhook) => ConvertObjects): InVersion {
  const made = new WeakMap<Served, Map<string, Conversion>>()
  const conversionOf = (served: Served, version: string, webhook: ConversionWebhook): Conversion => {
    const versions = made.get(served) ?? new Map<string, Conversion>()
    const conversion = versions.get(version) ?? webhookConversion(served, version, converter(webhook))
    made.set(served, versions.set(version, conversion))
    return conversion
  }
  return (storage, served, version) => {
    const { conversion } = served.definition
    if (isStoredAs(served, version)) return storage
    if (conversion === undefined) return viewOf(storage, () => versionLens(served, version))
    return convertedStorage(storage, conversionOf(served, version, conversion))
  }
}
