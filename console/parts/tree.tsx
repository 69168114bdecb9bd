import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { paths, type WorkspaceObject } from '../model/objects.ts'
import { hashOf } from '../model/place.ts'
import { Empty, Loading, Pill, Problem, toneOf } from './basics.tsx'
import { useFollowed, useShared } from './hooks.ts'
import { moveFocus } from './keys.ts'

interface TreeProps {
  readonly top: string
  readonly selected: string
  readonly filter: string
}

/** The workspaces below `top`, of which each open one is watched. */
export function Tree({ top, selected, filter }: TreeProps): JSX.Element {
  return (
    // The arrows move the focus between the items.
    <ul class="tree" aria-label="Workspaces" onKeyDown={event => moveFocus(event, '[role=treeitem]')}>
      <Node path={top} name={top} selected={selected} filter={filter} />
    </ul>
  )
}

interface NodeProps {
  readonly path: string
  readonly name: string
  readonly workspace?: WorkspaceObject
  readonly selected: string
  readonly filter: string
}

const Node = ({ path, name, workspace, selected, filter }: NodeProps): JSX.Element => {
  const { go } = useShared()
  const isLeaf = workspace?.spec?.mount !== undefined
  const isAbove = selected === path || selected.startsWith(`${path}:`)
  const [isOpen, setOpen] = useState(workspace === undefined || (isAbove && selected !== path))
  useEffect(() => {
    if (isAbove && selected !== path) setOpen(true)
  }, [isAbove, selected, path])
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowRight' && !isLeaf) setOpen(true)
    else if (event.key === 'ArrowLeft') setOpen(false)
    else if (event.key === 'Enter' || event.key === ' ')
      go(hashOf({ page: 'workspaces', scope: path, choices: {} }))
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <li role="none">
      <div
        role="treeitem"
        aria-level={path.split(':').length}
        tabIndex={selected === path ? 0 : -1}
        aria-selected={selected === path}
        aria-expanded={isLeaf ? undefined : isOpen}
        class="node"
        onKeyDown={pressed}
        onClick={() => go(hashOf({ page: 'workspaces', scope: path, choices: {} }))}
      >
        <Twist isLeaf={isLeaf} isOpen={isOpen} toggle={() => setOpen(!isOpen)} />
        <span class="name">{name}</span>
        <Notes workspace={workspace} />
      </div>
      {isOpen && !isLeaf && <Children path={path} selected={selected} filter={filter} />}
    </li>
  )
}

interface TwistProps {
  readonly isLeaf: boolean
  readonly isOpen: boolean
  readonly toggle: () => void
}

function Twist({ isLeaf, isOpen, toggle }: TwistProps): JSX.Element {
  if (isLeaf) return <span class="twist" />
  const toggled = (event: Event): void => {
    event.stopPropagation()
    toggle()
  }
  return (
    <span
      class={isOpen ? 'twist open' : 'twist'}
      aria-hidden="true"
      onClick={toggled}
      onKeyDown={() => undefined}
    >
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <path d="M4 2.5 8 6 4 9.5" />
      </svg>
    </span>
  )
}

const kinds: Readonly<Record<string, string>> = { Workspace: 'link', Redirect: 'redirect' }

/** What is special about a workspace: a mount and its target, a phase other than Ready. */
function Notes({ workspace }: { workspace: WorkspaceObject | undefined }): JSX.Element | null {
  if (workspace === undefined) return null
  const { spec: { mount, URL: url } = {}, status: { phase = 'Scheduling' } = {}, metadata } = workspace
  const target = url?.replace(/^.*\/clusters\//, '')
  const shown = metadata.deletionTimestamp === undefined ? phase : 'Deleting'
  return (
    <>
      {mount !== undefined && <span class="target">{`→ ${target ?? '?'}`}</span>}
      {mount !== undefined && <Pill tone="calm">{kinds[mount.type ?? ''] ?? 'mount'}</Pill>}
      {shown !== 'Ready' && <Pill tone={toneOf(shown)}>{shown}</Pill>}
    </>
  )
}

/** The rows that are added at a time: browsers render thousands slowly. */
const step = 200

function Children({ path, selected, filter }: Omit<TreeProps, 'top'> & { path: string }): JSX.Element {
  const { items, isLoaded, problem } = useFollowed<WorkspaceObject>(paths.workspaces(path))
  const [most, setMost] = useState(step)
  const wanted = filter.trim().toLowerCase()
  const matching = items.filter(
    ({ metadata: { name } }) =>
      wanted === '' ||
      name.includes(wanted) ||
      selected === `${path}:${name}` ||
      selected.startsWith(`${path}:${name}:`),
  )
  const more = matching.length - most
  return (
    <ul role="none">
      {matching.slice(0, most).map(workspace => (
        <Node
          key={workspace.metadata.name}
          path={`${path}:${workspace.metadata.name}`}
          name={workspace.metadata.name}
          workspace={workspace}
          selected={selected}
          filter={filter}
        />
      ))}
      {more > 0 && (
        <li role="none">
          <button type="button" class="more" onClick={() => setMost(most + step)}>
            {`Show ${Math.min(step, more)} more of ${more.toLocaleString('en')}`}
          </button>
        </li>
      )}
      {problem !== undefined && (
        <li role="none">
          <Problem problem={problem} />
        </li>
      )}
      {!isLoaded && problem === undefined && (
        <li role="none">
          <Loading />
        </li>
      )}
      {isLoaded && matching.length === 0 && path === 'root' && (
        <li role="none">
          <Empty>
            {items.length === 0
              ? 'No workspaces that you may see. Press w and give the path of one.'
              : 'No workspace has such a name.'}
          </Empty>
        </li>
      )}
    </ul>
  )
}
