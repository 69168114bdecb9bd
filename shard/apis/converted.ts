import { nowOrInTurns, Pace, pacedMap } from '../../framework/async/awaitable.ts'
import { clusterAnnotation, type Item } from '../../framework/contract/item.ts'
import { apiVersionOf, type KubeObject } from '../../framework/meta/object.ts'
import { claimLabelPrefix } from '../../kcp/labels.ts'
import { compileCached } from '../../openapi/compile.ts'
import { itemAsSteps } from '../cache/item.ts'
import type { ConvertObjects } from '../conversion/webhook.ts'
import { storedLabels } from '../registry/strategy.ts'
import { ConvertedItems, newConvertedItems } from './converteditems.ts'
import { checkKnownVersion, type ServedDefinition, storageVersionOf } from './served.ts'

/** Conversion of the objects of one kind between versions. */
export interface Conversion {
  /** The objects in a version, in their order; the same object where it is in that version already. */
  convert(objects: readonly KubeObject[], version: string): Promise<readonly KubeObject[]>
  /** The same of items that were read. */
  present(items: readonly Item[], version: string): Promise<readonly Item[]>
  /** An object of any version as it is stored. */
  stored(object: KubeObject): Promise<KubeObject>
}

type Use<T> = (shown: readonly KubeObject[]) => Promise<T>

/** Conversion by a webhook. Items are converted once for all readers while they are in memory and `kept`. */
export function webhookConversion(
  { definition }: ServedDefinition,
  ask: ConvertObjects,
  kept = newConvertedItems(),
): Conversion {
  const { group, versions } = definition
  const schemaOf = (name: string) => compileCached(versions.find(v => v.name === name)?.schema ?? {})
  const isIn = ({ apiVersion }: KubeObject, version: string) => apiVersion === apiVersionOf(group, version)
  const convertFor = async <T>(objects: readonly KubeObject[], version: string, use: Use<T>): Promise<T> => {
    const foreign = objects.filter(object => !isIn(object, version))
    if (foreign.length === 0) return use(objects)
    for (const object of foreign) checkKnownVersion(definition, object)
    const schema = schemaOf(version)
    return ask(foreign.map(unpresented), apiVersionOf(group, version), async answered => {
      const read = (object: KubeObject, i: number) =>
        presentedAs(schema.decode(answered[i] ?? object, { stored: true }).object, object)
      const decoded = await pacedMap(foreign.entries(), ([i, object]) => read(object, i))
      const converted = new Map(foreign.map((object, i) => [object, decoded[i]]))
      return use(objects.map(object => converted.get(object) ?? object))
    })
  }
  const convertItems = async (items: readonly Item[], version: string): Promise<readonly Item[]> => {
    const objects = await pacedMap(items, ({ object }) => object)
    return convertFor(objects, version, shown => encodedAll(items, shown))
  }
  const known = new ConvertedItems(kept, convertItems)
  const convert: Conversion['convert'] = (objects, version) =>
    convertFor(objects, version, async shown => shown)
  return {
    convert,
    async present(items, version) {
      const foreign = await pacedMap(items, item => (isIn(item.object, version) ? undefined : item))
      const shown = await known.of(new Set(foreign), version)
      return items.map(item => shown.get(item) ?? item)
    },
    stored: one(convert, storageVersionOf(definition)),
  }
}

const one =
  (convert: Conversion['convert'], version: string): Conversion['stored'] =>
  async object =>
    (await convert([object], version))[0] ?? object

async function encodedAll(items: readonly Item[], objects: readonly KubeObject[]): Promise<readonly Item[]> {
  const pace = new Pace()
  const shown: Item[] = []
  for (const [i, item] of items.entries()) {
    const made = nowOrInTurns(itemAsSteps(item, objects[i] ?? item.object), pace)
    shown.push(made instanceof Promise ? await made : made)
    await pace.due()
  }
  return shown
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
