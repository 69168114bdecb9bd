import { clusterAnnotation, relabeledItem } from '../../framework/contract/item.ts'
import { type Item, itemOf, type KubeObject } from '../../framework/index.ts'
import { FieldCutter } from '../../framework/lens/fieldcutter.ts'
import type { FieldSteps } from './fields/fieldsteps.ts'
import { withoutHiddenManagers } from './fields/managers.ts'
import { treeOf, withoutPaths } from './fields/pathtree.ts'

/** The annotation in which kubectl keeps the applied object as JSON. */
export const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** Bytes that are scanned for all paths: the bytes are scanned for each, and a decoded object is walked once. */
const mostScanned = 2 * 1024 * 1024

/** Removes hidden fields from items: in their bytes where that is possible. */
export class Masker {
  readonly #paths: readonly FieldSteps[]
  readonly #apiVersion: string
  readonly #cutter: FieldCutter
  readonly #mostBytes: number

  /** `apiVersion` is that of all items. */
  constructor(paths: readonly FieldSteps[], apiVersion: string) {
    this.#paths = paths
    this.#apiVersion = apiVersion
    this.#cutter = new FieldCutter(paths.map(({ steps }) => steps))
    this.#mostBytes = mostScanned / paths.length
  }

  /** The same item if it has no hidden fields. */
  masked(item: Item): Item {
    if (this.#paths.length === 0) return item
    const isShort = (item.length ?? item.bytes.length) <= this.#mostBytes
    const cut = isShort ? this.#cutter.cut(item) : undefined
    if (cut === undefined) return itemOf(withoutFields(item.object, this.#paths), item.key.cluster)
    const { annotations } = cut.meta
    if (annotations[lastApplied] === undefined) return cut
    return relabeledItem(cut, {
      annotations: withShownApplied(annotations, this.#apiVersion, this.#paths),
    })
  }
}

/** The object without hidden fields: also without their owners, and without them in what kubectl applied. */
export function withoutFields(object: KubeObject, paths: readonly FieldSteps[]): KubeObject {
  if (paths.length === 0) return object
  const rest = withoutPaths(object, treeOf(paths)) as KubeObject
  const own = withCluster(withoutHiddenManagers(rest, paths), object)
  const { annotations } = own.metadata
  if (annotations?.[lastApplied] === undefined) return own
  return {
    ...own,
    metadata: { ...own.metadata, annotations: withShownApplied(annotations, object.apiVersion, paths) },
  }
}

type Texts = Readonly<Record<string, string>>

function withShownApplied(annotations: Texts, apiVersion: string, paths: readonly FieldSteps[]): Texts {
  const { [lastApplied]: applied = '', ...others } = annotations
  const shown = withoutApplied(applied, apiVersion, paths)
  return shown === undefined ? others : { ...others, [lastApplied]: shown }
}

/** Clients tell objects of several logical clusters apart by this annotation: it is never hidden. */
function withCluster(object: KubeObject, whole: KubeObject): KubeObject {
  const cluster = whole.metadata.annotations?.[clusterAnnotation]
  if (cluster === undefined || object.metadata.annotations?.[clusterAnnotation] === cluster) return object
  const annotations = { ...object.metadata.annotations, [clusterAnnotation]: cluster }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/** undefined for a text that cannot be read, and for another version, whose fields may have other paths. */
function withoutApplied(text: string, apiVersion: string, paths: readonly FieldSteps[]): string | undefined {
  try {
    const applied = JSON.parse(text)
    if (applied.apiVersion !== apiVersion) return undefined
    return `${JSON.stringify(withoutPaths(applied, treeOf(paths)))}\n`
  } catch {
    return undefined
  }
}
