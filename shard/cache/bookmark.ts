import type { Item, ItemEvent } from '../../framework/item.ts'
import type { KubeObject } from '../../framework/object.ts'
import type { ServedKind } from './selection.ts'

/** Marks the end of initial events (chapter 40, rule 4.55). */
const initialEventsEnd: Readonly<Record<string, string>> = { 'k8s.io/initial-events-end': 'true' }
const none: Readonly<Record<string, string>> = {}
const key = { cluster: '', namespace: '', name: '' }

/** "Everything up to this revision has been sent" (chapter 40, rule 4.54). */
export function bookmark(kind: ServedKind, revision: number, endsInitialEvents = false): ItemEvent {
  const resourceVersion = String(revision)
  const annotations = endsInitialEvents ? initialEventsEnd : none
  const object: KubeObject = {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: endsInitialEvents ? { annotations, resourceVersion } : { resourceVersion },
  }
  const item: Item = {
    key,
    meta: { ...key, uid: '', resourceVersion, labels: none, annotations },
    bytes: Buffer.from(JSON.stringify(object)),
    object,
  }
  return { type: 'BOOKMARK', item }
}
