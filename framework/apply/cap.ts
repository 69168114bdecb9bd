import { union } from './fieldpath/fieldset.ts'
import { compareAges, type Entry, identityOf, type Managed } from './managed.ts'

const maxUpdaters = 10
const ancient = 'ancient-changes'

const isUpdate = ({ operation }: Entry): boolean => operation === 'Update'

/**
 * Keeps at most ten entries of updates: the oldest are merged, per version, into one of nobody in particular (chapter 40,
 * rule 5.28).
 */
export function capUpdaters(managed: Managed): Managed {
  const updaters = [...managed.values()].filter(isUpdate).sort(compareAges)
  const kept = new Map(managed)
  const oldest = new Map<string, Entry>()
  let count = updaters.length
  for (const entry of updaters) {
    if (count <= maxUpdaters) break
    const first = oldest.get(entry.apiVersion)
    if (first === undefined) oldest.set(entry.apiVersion, entry)
    else {
      bury(kept, first, entry)
      count--
    }
  }
  return kept
}

/** Moves an entry into the bucket of its version; the first of that version makes the bucket. */
function bury(kept: Map<string, Entry>, first: Entry, entry: Entry): void {
  const { apiVersion } = entry
  const bucket: Entry = { ...entry, manager: ancient, subresource: '' }
  const key = identityOf(bucket)
  const before = kept.get(key)
  if (before === undefined) kept.delete(identityOf(first))
  const fields = union(entry.fields, (before ?? first).fields)
  kept.delete(identityOf(entry))
  kept.set(key, { ...bucket, apiVersion, fields })
}
