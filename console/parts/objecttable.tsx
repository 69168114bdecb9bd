import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Column, LiveRow } from '../model/table.ts'
import { moveFocus } from './keys.ts'

interface ObjectTableProps {
  readonly columns: readonly Column[]
  readonly rows: readonly LiveRow[]
}

const step = 200

/** Rows of a Table. A row that changes is marked for a moment. */
export function ObjectTable({ columns, rows }: ObjectTableProps): JSX.Element {
  const [most, setMost] = useState(step)
  const shown = columns.map((column, i) => ({ ...column, i })).filter(({ priority }) => priority === 0)
  const hasClusters = rows.some(({ cluster }, i) => i > 0 && cluster !== rows[0]?.cluster)
  const hasNamespaces = rows.some(({ namespace }) => namespace !== '')
  return (
    <div class="scroll">
      <table class="objects" onKeyDown={event => moveFocus(event, 'tbody tr')}>
        <thead>
          <tr>
            {hasClusters && <th scope="col">Cluster</th>}
            {hasNamespaces && <th scope="col">Namespace</th>}
            {shown.map(({ name, description, i }) => (
              <th key={i} scope="col" title={description}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row, at) => (
            <tr key={row.key} tabIndex={at === 0 ? 0 : -1} data-key={row.key}>
              {hasClusters && (
                <td>
                  <code>{row.cluster}</code>
                </td>
              )}
              {hasNamespaces && <td>{row.namespace}</td>}
              {shown.map(({ i }, first) => (
                <td key={i} class={first === 0 ? 'first' : undefined}>
                  {first === 0 && row.changes > 0 && (
                    <span key={row.changes} class="changed" aria-hidden="true" />
                  )}
                  {row.cells[i]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && (
        <button type="button" class="more" onClick={() => setMost(most + step)}>
          {`Show ${Math.min(step, rows.length - most)} more of ${(rows.length - most).toLocaleString('en')}`}
        </button>
      )}
    </div>
  )
}
