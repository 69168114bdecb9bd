import type { ResourceStorage } from '../../framework/contract/storage.ts'
import { type Lens, viewOf } from '../../framework/lens/view.ts'
import { invalid } from '../../framework/meta/errors.ts'
import { apiVersionOf } from '../../framework/meta/object.ts'
import { compileCached, completed, pruned } from '../../openapi/compile.ts'
import type { ConversionWebhook, KindDefinition } from '../../openapi/definitions/definition.ts'
import { itemAs } from '../cache/item.ts'
import { type Convert, conversions } from '../conversion/conversions.ts'
import type { ConvertObjects } from '../conversion/webhook.ts'
import { type Conversion, webhookConversion } from './converted.ts'
import { type ServedDefinition, servedName, storageVersionOf } from './served.ts'

/** Strategy `None`: apiVersion is rewritten, what the version does not know is pruned (chapter 40, rule 7.41). */
const renaming =
  ({ group, versions }: KindDefinition, cut: typeof pruned): Convert =>
  (object, version) => {
    const apiVersion = apiVersionOf(group, version)
    const target = versions.find(v => v.name === version)
    if (object.apiVersion === apiVersion || target === undefined) return object
    return cut(target.schema, { ...object, apiVersion })
  }

/** How kcp's own two kinds become their other versions: by rules of their own. */
const ownConversion = (served: ServedDefinition): Convert | undefined => conversions.get(servedName(served))

/** Whether the objects of a kind are admitted and checked as they are stored, whichever version they are written in. */
export const isWrittenAsStored = (served: ServedDefinition): boolean => ownConversion(served) !== undefined

/** One version of such a kind. What is written is checked in this version before it is converted. */
export function ownVersion(
  storage: ResourceStorage,
  served: ServedDefinition,
  version: string,
): ResourceStorage {
  const convert = ownConversion(served)
  const { group, names, versions } = served.definition
  const stored = storageVersionOf(served.definition)
  if (convert === undefined || version === stored) return storage
  const schema = compileCached(versions.find(v => v.name === version)?.schema ?? {})
  const lens: Lens = {
    present: object => convert(object, version),
    accept(object, current) {
      const errors = schema.validate(object, current)
      if (errors.length > 0) throw invalid(names.kind, group, object.metadata.name ?? '', errors)
      return convert(object, stored)
    },
  }
  return viewOf(storage, () => lens)
}

/** Whether every stored object is in this version, so that its bytes can be sent as they are. */
export const isStoredAs = ({ storedVersions }: ServedDefinition, version: string): boolean =>
  storedVersions.every(stored => stored === version)

/** A conversion that asks nobody: what is read is cut, what is written is stored complete. */
function ownWays(read: Convert, write: Convert, stored: string): Conversion {
  return {
    convert: async (objects, version) => objects.map(object => read(object, version)),
    present: async (items, version) =>
      items.map(item => {
        const object = read(item.object, version)
        return object === item.object ? item : itemAs(item, object)
      }),
    stored: async object => write(object, stored),
  }
}

/** Shows what is stored in some versions in others. */
export interface Versions {
  conversionOf(served: ServedDefinition): Conversion
}

/** `converter` makes what asks a kind's conversion webhook. */
export function versioning(converter: (webhook: ConversionWebhook) => ConvertObjects): Versions {
  const made = new WeakMap<ServedDefinition, Conversion>()
  const make = (served: ServedDefinition): Conversion => {
    const { definition } = served
    const own = ownConversion(served)
    const stored = storageVersionOf(definition)
    if (own !== undefined) return ownWays(own, own, stored)
    const { conversion } = definition
    return conversion === undefined
      ? ownWays(renaming(definition, pruned), renaming(definition, completed), stored)
      : webhookConversion(served, converter(conversion))
  }
  return {
    conversionOf(served) {
      const conversion = made.get(served) ?? make(served)
      made.set(served, conversion)
      return conversion
    },
  }
}
