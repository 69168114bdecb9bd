import { Findings, Work } from '../json/json.ts'
import { type StatusCause, StatusError } from '../meta/errors.ts'
import { pathSteps } from './fieldpath/common.ts'
import { printPath } from './fieldpath/fieldpath.ts'
import { type FieldSet, sizeOf } from './fieldpath/fieldset.ts'
import type { Manager } from './managed.ts'

/** Fields of the configuration that another manager owns. */
export interface Conflict {
  readonly manager: Manager
  readonly fields: FieldSet
}

/** An apply without force changes fields of other managers. */
export class ConflictError extends Error {
  readonly conflicts: readonly Conflict[]
  constructor(conflicts: readonly Conflict[]) {
    super('the apply conflicts with other managers')
    this.conflicts = conflicts
  }
}

function printManager({ manager, operation, apiVersion, subresource }: Manager): string {
  const below = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`
  return `${JSON.stringify(manager)}${below}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}

interface Cause {
  readonly manager: string
  readonly field: string
}

/** The causes that fit into one response. In steps. */
function* causesOf(conflicts: readonly Conflict[]): Generator<void, readonly Cause[]> {
  const causes = new Findings<Cause>()
  const work = new Work()
  for (const { manager, fields } of conflicts) {
    const text = printManager(manager)
    yield* pathSteps(fields, work, path => {
      const field = printPath(path)
      causes.add({ manager: text, field }, text.length + field.length)
      return !causes.isFull
    })
  }
  return causes.all
}

/** 409 with one cause per field (rules.md 5.54). In steps. */
export function* conflictStatus(conflicts: readonly Conflict[]): Generator<void, StatusError> {
  const count = conflicts.reduce((sum, { fields }) => sum + sizeOf(fields), 0)
  const causes = yield* causesOf(conflicts)
  yield
  const message = messageOf(count, causes)
  yield
  return new StatusError(409, 'Conflict', message, { causes: causes.map(statusCause) })
}

const statusCause = ({ manager, field }: Cause): StatusCause => ({
  reason: 'FieldManagerConflict',
  message: `conflict with ${manager}`,
  field,
})

function messageOf(count: number, causes: readonly Cause[]): string {
  const [first] = causes
  if (first !== undefined && count === 1)
    return `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.field}`
  const fields = new Map<string, string[]>(causes.map(({ manager }) => [manager, []]))
  for (const { manager, field } of causes) fields.get(manager)?.push(`- ${field}`)
  const lines = [...fields]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([manager, each]) => [`conflicts with ${manager}:`, ...each])
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`
}
