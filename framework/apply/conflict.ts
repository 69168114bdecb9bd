import { StatusError } from '../errors.ts'
import { type Path, printPath } from './fieldpath.ts'
import type { Manager } from './managed.ts'

/** Somebody else has set this field. */
export interface Conflict {
  readonly manager: Manager
  readonly path: Path
}

/** An apply that would take fields from others. */
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

/** 409 with one cause per field (chapter 40, rule 5.54). */
export function conflictStatus(conflicts: readonly Conflict[]): StatusError {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${printManager(manager)}`,
    field: printPath(path),
  }))
  return new StatusError(409, 'Conflict', messageOf(conflicts), { causes })
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [first, ...others] = conflicts
  if (first !== undefined && others.length === 0)
    return `Apply failed with 1 conflict: conflict with ${printManager(first.manager)}: ${printPath(first.path)}`
  const managers = [...new Set(conflicts.map(({ manager }) => printManager(manager)))].sort()
  const lines = managers.flatMap(manager => [
    `conflicts with ${manager}:`,
    ...conflicts.filter(c => printManager(c.manager) === manager).map(({ path }) => `- ${printPath(path)}`),
  ])
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}
