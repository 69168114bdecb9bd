import { Findings } from '../json/json.ts'
import { StatusError } from '../meta/errors.ts'
import { printPath } from './fieldpath/fieldpath.ts'
import { type FieldSet, pathsOf, sizeOf } from './fieldpath/fieldset.ts'
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

function* causesOf(conflicts: readonly Conflict[]): Generator<Cause> {
  for (const { manager, fields } of conflicts)
    for (const path of pathsOf(fields)) yield { manager: printManager(manager), field: printPath(path) }
}

/** 409 with one cause per field (rules.md 5.54). */
export function conflictStatus(conflicts: readonly Conflict[]): StatusError {
  const count = conflicts.reduce((sum, { fields }) => sum + sizeOf(fields), 0)
  const causes = Findings.of(causesOf(conflicts), ({ manager, field }) => manager + field)
  return new StatusError(409, 'Conflict', messageOf(count, causes), {
    causes: causes.map(({ manager, field }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${manager}`,
      field,
    })),
  })
}

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
