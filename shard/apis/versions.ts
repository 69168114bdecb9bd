import { Pace } from '../../framework/async/awaitable.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import type { Lens } from '../../framework/lens/lens.ts'
import { viewOf } from '../../framework/lens/view.ts'
import { invalid } from '../../framework/meta/errors.ts'
import { apiVersionOf, type KubeObject } from '../../framework/meta/object.ts'
import { compileCached, completed, pruned } from '../../openapi/compile.ts'
import type { ConversionWebhook, KindDefinition } from '../../openapi/definitions/definition.ts'
import { itemAs } from '../cache/item.ts'
import { type Convert, conversions } from '../conversion/conversions.ts'
import type { ConvertObjects } from '../conversion/webhook.ts'
import { shapeOf } from '../registry/storage.ts'
import type { Part } from '../registry/strategy.ts'
import { type Conversion, webhookConversion } from './converted.ts'
import { newConvertedItems } from './converteditems.ts'
import { checkKnownVersion, type ServedDefinition, servedName, storageVersionOf } from './served.ts'

/** Strategy `None`: rewrites apiVersion and prunes unknown fields (rules.md 7.41). Throws 500 for a version that the kind has no longer. */
const renaming =
  (definition: KindDefinition, cut: typeof pruned): Convert =>
  (object, version) => {
    const apiVersion = apiVersionOf(definition.group, version)
    const target = definition.versions.find(v => v.name === version)
    if (object.apiVersion === apiVersion || target === undefined) return object
    checkKnownVersion(definition, object)
    return cut(target.schema, { ...object, apiVersion })
  }

/** The conversions of the two kinds of kcp that have several versions. */
const ownConversion = (served: ServedDefinition): Convert | undefined => conversions.get(servedName(served))

/** Whether the objects of a kind are admitted and validated in their stored version, for writes in any version. */
export const isWrittenAsStored = (served: ServedDefinition): boolean => ownConversion(served) !== undefined

/** One version of a resource, and the part of it that one endpoint writes. */
export interface VersionEndpoint {
  readonly version: string
  readonly part: Part
}

/**
 * One version of a CRD with several versions. A write is validated in the version of its endpoint, before conversion.
 */
export function ownVersion(
  storage: ResourceStorage,
  served: ServedDefinition,
  { version, part }: VersionEndpoint,
): ResourceStorage {
  const convert = ownConversion(served)
  const { group, names, versions } = served.definition
  const stored = storageVersionOf(served.definition)
  if (convert === undefined || version === stored) return storage
  const schema = compileCached(versions.find(v => v.name === version)?.schema ?? {})
  const lens: Lens = {
    present: object => convert(object, version),
    accept(object, current) {
      const written = writtenPart(object, part, current)
      const errors = schema.validate(written, current, { onlyStatus: part === 'status' })
      if (errors.length > 0) throw invalid(names.kind, group, object.metadata.name ?? '', errors)
      return convert(written, stored)
    },
  }
  return viewOf(storage, () => lens)
}

/** The object as far as an endpoint writes it: the status with the current spec, or the object without its status. */
function writtenPart(object: KubeObject, part: Part, current: KubeObject | undefined): KubeObject {
  if (part === 'status') return { ...object, spec: current?.spec }
  const { status: _, ...rest } = object
  return rest as KubeObject
}

/** Whether every stored object should be in this version, so that its bytes can be sent as they are. */
export const isStoredAs = ({ storedVersions }: ServedDefinition, version: string): boolean =>
  storedVersions.every(stored => stored === version)

/** Whether objects may be in other versions than the status names: clients remove stored versions from it, also too early. */
export const mayHaveOthers = (served: ServedDefinition): boolean =>
  (served.isCustom === true || served.identity !== undefined) && !isWrittenAsStored(served)

/** A conversion without a webhook: reads are pruned, writes are stored unpruned. */
function ownWays(read: Convert, write: Convert, stored: string): Conversion {
  return {
    convert: async (objects, version) => objects.map(object => read(object, version)),
    async present(items, version) {
      const pace = new Pace()
      const presented: Item[] = []
      for (const item of items) {
        const object = read(item.object, version)
        presented.push(object === item.object ? item : itemAs(item, object))
        await pace.due()
      }
      return presented
    },
    stored: async object => write(object, stored),
  }
}

/** Does not decode the items of which their shape tells that they are in the version. */
const unlessStored =
  (present: Conversion['present'], { definition }: ServedDefinition): Conversion['present'] =>
  async (items, version) => {
    if (version !== storageVersionOf(definition)) return present(items, version)
    const { isOf } = shapeOf(definition)
    const unknown = items.filter(item => !isOf(item))
    if (unknown.length === 0) return items
    const presented = await present(unknown, version)
    const shown = new Map(unknown.map((item, i) => [item, presented[i]]))
    return items.map(item => shown.get(item) ?? item)
  }

/** Presents stored objects in other versions. */
export interface Versions {
  conversionOf(served: ServedDefinition): Conversion
}

/** `converter` makes the client of a kind's conversion webhook. */
export function versioning(converter: (webhook: ConversionWebhook) => ConvertObjects): Versions {
  const made = new WeakMap<ServedDefinition, Conversion>()
  const kept = newConvertedItems()
  const make = (served: ServedDefinition): Conversion => {
    const { definition } = served
    const own = ownConversion(served)
    const stored = storageVersionOf(definition)
    if (own !== undefined) return ownWays(own, own, stored)
    const { conversion } = definition
    const others =
      conversion === undefined
        ? ownWays(renaming(definition, pruned), renaming(definition, completed), stored)
        : webhookConversion(served, converter(conversion), kept)
    return { ...others, present: unlessStored(others.present, served) }
  }
  return {
    conversionOf(served) {
      const conversion = made.get(served) ?? make(served)
      made.set(served, conversion)
      return conversion
    },
  }
}
