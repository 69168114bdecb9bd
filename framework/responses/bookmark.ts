import { type Item, type ItemEvent, initialEventsEnd } from '../contract/item.ts'
import type { KubeObject } from '../meta/object.ts'

const none: Readonly<Record<string, string>> = {}
const end: Readonly<Record<string, string>> = { [initialEventsEnd]: 'true' }
const key = { cluster: '', namespace: '', name: '' }

/**
 * A BOOKMARK event of a kind: all events up to the revision were sent (rules.md 4.54). `endsInitialEvents` adds the
 * annotation `k8s.io/initial-events-end` (rules.md 4.55).
 */
export function bookmark(
  kind: Pick<KubeObject, 'apiVersion' | 'kind'>,
  revision: number,
  endsInitialEvents = false,
): ItemEvent {
  const resourceVersion = String(revision)
  const annotations = endsInitialEvents ? end : none
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
