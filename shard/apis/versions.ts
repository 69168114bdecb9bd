import { invalid } from '../../framework/errors.ts'
import { itemOf } from '../../framework/item.ts'
import { apiVersionOf, type KubeObject } from '../../framework/object.ts'
import type { ResourceStorage } from '../../framework/storage.ts'
import { type Lens, viewOf } from '../../framework/view.ts'
import { compileCached } from '../../openapi/compile.ts'
import type { ConversionWebhook, KindDefinition } from '../../openapi/definitions/definition.ts'
import { completed, pruned } from '../../openapi/stored.ts'
import { conversions } from '../conversion/conversions.ts'
import type { ConvertObjects } from '../conversion/webhook.ts'
import { type Conversion, convertedStorage, webhookConversion } from './converted.ts'
import { type Served, servedName, storageVersionOf } from './served.ts'

/** Turns an object into one version of its kind; the same object when it is in that version already. */
type Convert = (object: KubeObject, version: string) => KubeObject

/** The two ways between versions: what is read shows what was stored, what is written is stored complete. */
interface Ways {
  readonly read: Convert
  readonly write: Convert
}

/** Strategy `None`: apiVersion is rewritten, what the version does not know is pruned (chapter 40, rule 7.41). */
const renaming =
  ({ group, versions }: KindDefinition, cut: typeof pruned): Convert =>
  (object, version) => {
    const apiVersion = apiVersionOf(group, version)
    const target = versions.find(v => v.name === version)
    if (object.apiVersion === apiVersion || target === undefined) return object
    return cut(target.schema, { ...object, apiVersion })
  }

/** How the versions of a kind become each other: kcp's own two kinds by rules of their own, all others by name. */
function waysOf(served: Served): Ways {
  const own = conversions.get(servedName(served))
  if (own !== undefined) return { read: own, write: own }
  const { definition } = served
  return { read: renaming(definition, pruned), write: renaming(definition, completed) }
}

/** How objects that may be stored in other versions look in `version`, and how they come back into the stored one. */
function versionLens(served: Served, version: string): Lens {
  const { definition } = served
  const { read, write } = waysOf(served)
  const schema = definition.versions.find(v => v.name === version)?.schema ?? {}
  const stored = storageVersionOf(definition)
  const { group, names } = definition
  return {
    present: object => read(object, version),
    accept(object, current) {
      const errors = version === stored ? [] : compileCached(schema).validate(object, current)
      if (errors.length > 0) throw invalid(names.kind, group, object.metadata.name ?? '', errors)
      return write(object, stored)
    },
  }
}

/** Whether every stored object is in this version, so that its bytes can be sent as they are. */
export const isStoredAs = ({ storedVersions }: Served, version: string): boolean =>
  storedVersions.every(stored => stored === version)

/** Shows what is stored in some versions in others. */
export interface Versions {
  inVersion(storage: ResourceStorage, served: Served, version: string): ResourceStorage
  /** Items of clusters that serve them alike. */
  presentIn(served: Served, version: string): Conversion['present']
}

const presentedBy =
  (read: Convert, version: string): Conversion['present'] =>
  async items =>
    items.map(item => {
      const object = read(item.object, version)
      return object === item.object ? item : itemOf(object, item.key.cluster)
    })

/** `converter` makes what asks a kind's conversion webhook. */
export function versioning(converter: (webhook: ConversionWebhook) => ConvertObjects): Versions {
  const made = new WeakMap<Served, Map<string, Conversion>>()
  const conversionOf = (served: Served, version: string, webhook: ConversionWebhook): Conversion => {
    const versions = made.get(served) ?? new Map<string, Conversion>()
    const conversion = versions.get(version) ?? webhookConversion(served, version, converter(webhook))
    made.set(served, versions.set(version, conversion))
    return conversion
  }
  return {
    inVersion(storage, served, version) {
      const { conversion } = served.definition
      if (isStoredAs(served, version)) return storage
      if (conversion === undefined) return viewOf(storage, () => versionLens(served, version))
      return convertedStorage(storage, conversionOf(served, version, conversion))
    },
    presentIn(served, version) {
      const { conversion } = served.definition
      if (isStoredAs(served, version)) return async items => items
      if (conversion === undefined) return presentedBy(waysOf(served).read, version)
      return conversionOf(served, version, conversion).present
    },
  }
}
