import { nowOrInTurns, Pace, pacedMap } from '../../framework/async/awaitable.ts'
import { clusterAnnotation, type Item } from '../../framework/contract/item.ts'
import { apiVersionOf, type KubeObject } from '../../framework/meta/object.ts'
import { claimLabelPrefix } from '../../kcp/labels.ts'
import { compileCached } from '../../openapi/compile.ts'
import { itemAsSteps } from '../cache/item.ts'
import type { ConvertObjects } from '../conversion/webhook.ts'
import { storedLabels } from '../registry/strategy.ts'
import { type ServedDefinition, storageVersionOf } from './served.ts'

/** Conversion of the objects of one kind between versions. */
export interface Conversion {
  /** The objects in a version, in their order; the same object where it is in that version already. */
  convert(objects: readonly KubeObject[], version: string): Promise<readonly KubeObject[]>
  /** The same of items that were read. */
  present(items: readonly Item[], version: string): Promise<readonly Item[]>
  /** An object of any version as it is stored. */
  stored(object: KubeObject): Promise<KubeObject>
}

/** Conversion by a webhook. Items are converted once for all readers while they are in memory. */
export function webhookConversion({ definition }: ServedDefinition, ask: ConvertObjects): Conversion {
  const { group, versions } = definition
  const schemaOf = (name: string) => compileCached(versions.find(v => v.name === name)?.schema ?? {})
  const isIn = ({ apiVersion }: KubeObject, version: string) => apiVersion === apiVersionOf(group, version)
  const convert: Conversion['convert'] = async (objects, version) => {
    const foreign = objects.filter(object => !isIn(object, version))
    if (foreign.length === 0) return objects
    const answered = await ask(foreign.map(unpresented), apiVersionOf(group, version))
    const schema = schemaOf(version)
    const read = (object: KubeObject, i: number) =>
      presentedAs(schema.decode(answered[i] ?? object, { stored: true }).object, object)
    const decoded = await pacedMap(foreign.entries(), ([i, object]) => read(object, i))
    const converted = new Map(foreign.map((object, i) => [object, decoded[i]]))
    return objects.map(object => converted.get(object) ?? object)
  }
  return { convert, present: withCache(convert, isIn), stored: one(convert, storageVersionOf(definition)) }
}

const one =
  (convert: Conversion['convert'], version: string): Conversion['stored'] =>
  async object =>
    (await convert([object], version))[0] ?? object

/** Converts items that were not converted to this version before. */
function withCache(
  convert: Conversion['convert'],
  isIn: (object: KubeObject, version: string) => boolean,
): Conversion['present'] {
  const known = new Map<string, WeakMap<Item, Promise<Item>>>()
  const ask = async (items: readonly Item[], version: string): Promise<readonly Item[]> => {
    const objects = await convert(await pacedMap(items, ({ object }) => object), version)
    const pace = new Pace()
    const shown: Item[] = []
    for (const [i, item] of items.entries()) {
      const made = nowOrInTurns(itemAsSteps(item, objects[i] ?? item.object), pace)
      shown.push(made instanceof Promise ? await made : made)
      await pace.due()
    }
    return shown
  }
  return async (items, version) => {
    const converted = known.get(version) ?? new WeakMap<Item, Promise<Item>>()
    known.set(version, converted)
    const foreign = new Set(await pacedMap(items, item => (isIn(item.object, version) ? undefined : item)))
    const missing = [...foreign].filter(item => !converted.has(item))
    const asked = missing.length > 0 ? ask(missing, version) : Promise.resolve([])
    for (const [i, item] of missing.entries()) {
      const next = asked.then(shown => shown[i] ?? item)
      next.catch(() => converted.delete(item))
      converted.set(item, next)
    }
    return Promise.all(items.map(item => (foreign.has(item) ? (converted.get(item) ?? item) : item)))
  }
}

/** The object without the fields that the server adds at reads, which webhooks do not convert. */
function unpresented(object: KubeObject): KubeObject {
  const { resourceVersion: _, annotations = {}, labels, ...metadata } = object.metadata
  const { [clusterAnnotation]: __, ...own } = annotations
  const kept = storedLabels(labels)
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(Object.keys(own).length === 0 ? {} : { annotations: own }),
      ...(kept === undefined ? {} : { labels: kept }),
    },
  }
}

const ownTexts = (texts: Readonly<Record<string, string>> = {}, isOwn: (key: string) => boolean) =>
  Object.entries(texts).filter(([key]) => isOwn(key))

/** The converted object, with the fields that the server adds at reads. */
function presentedAs(object: KubeObject, original: KubeObject | undefined): KubeObject {
  if (original === undefined) return object
  const { resourceVersion, annotations, labels } = original.metadata
  const own = {
    annotations: ownTexts(annotations, key => key === clusterAnnotation),
    labels: ownTexts(labels, key => key.startsWith(claimLabelPrefix)),
  }
  const texts = (['annotations', 'labels'] as const).flatMap(field => {
    const all = [...Object.entries(object.metadata[field] ?? {}), ...own[field]]
    return all.length === 0 ? [] : [[field, Object.fromEntries(all)]]
  })
  const version = resourceVersion === undefined ? {} : { resourceVersion }
  return { ...object, metadata: { ...object.metadata, ...Object.fromEntries(texts), ...version } }
}
