import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import {
  clusterAnnotation,
  type LogicalClusterObject,
  paths,
  type WorkspaceObject,
} from '../model/objects.ts'
import { ancestorsOf, type ConsolePlace, hashOf, isView } from '../model/place.ts'
import { Card, Code, Conditions, Fields, Filter, Loading, Phase, Problem } from '../parts/basics.tsx'
import { useFollowed, useLoaded, useShared } from '../parts/hooks.ts'
import { Tree } from '../parts/tree.tsx'

/** The tree of workspaces, and the selected one. */
export function Workspaces({ place }: { place: ConsolePlace }): JSX.Element {
  const [filter, setFilter] = useState('')
  const scope = isView(place.scope) ? 'root' : place.scope
  const [top = { path: 'root' }] = ancestorsOf(scope)
  return (
    <div class="split">
      <section class="pane" aria-label="Workspaces">
        <header class="head">
          <h1>Workspaces</h1>
          <Filter value={filter} change={setFilter} label="Filter by name" />
        </header>
        <Tree top={top.path} selected={scope} filter={filter} />
      </section>
      <section class="pane" aria-label="Selected workspace">
        <Selected key={scope} scope={scope} />
      </section>
    </div>
  )
}

function Selected({ scope }: { scope: string }): JSX.Element {
  const parent = scope.split(':').slice(0, -1).join(':')
  const name = scope.split(':').at(-1) ?? ''
  const { api } = useShared()
  const own = parent === '' ? undefined : `${paths.workspaces(parent)}?fieldSelector=metadata.name%3D${name}`
  const followed = useFollowed<WorkspaceObject>(own)
  const workspace = followed.items[0]
  const isMount = workspace?.spec?.mount !== undefined
  const cluster = useLoaded(`${scope} ${workspace?.status?.phase}`, signal =>
    api.json<LogicalClusterObject>(paths.logicalCluster(scope), { signal }),
  )
  const isKnown = workspace !== undefined || cluster.value !== undefined
  return (
    <>
      <header class="head">
        <h1 class="path">
          {ancestorsOf(scope).map(({ name: part, path }) => (
            <a key={path} href={hashOf({ page: 'workspaces', scope: path, choices: {} })}>
              {part}
            </a>
          ))}
        </h1>
        <Phase phase={workspace?.status?.phase ?? cluster.value?.status?.phase ?? ''} />
      </header>
      {!isKnown && cluster.problem === undefined && <Loading />}
      {workspace !== undefined && <WorkspaceCard workspace={workspace} />}
      {cluster.value !== undefined && !isMount && <ClusterCard cluster={cluster.value} />}
      {!isMount && <Problem problem={cluster.problem} />}
      {isKnown && <Links scope={scope} />}
    </>
  )
}

function WorkspaceCard({
  workspace: { metadata, spec = {}, status = {} },
}: {
  workspace: WorkspaceObject
}): JSX.Element {
  const { type, mount } = spec
  const target = mount && [mount.ref?.kind, mount.ref?.name].filter(part => part !== undefined).join(' ')
  return (
    <Card title={mount === undefined ? 'Workspace' : 'Mount'}>
      <Fields
        fields={[
          ['Type', type?.name && `${type.path === undefined ? '' : `${type.path}:`}${type.name}`],
          ['Mounts', target],
          ['Kind of link', mount?.type],
          ['URL', spec.URL && <Code>{spec.URL}</Code>],
          ['Logical cluster', spec.cluster && <code>{spec.cluster}</code>],
          ['Created', metadata.creationTimestamp],
          ['Deleted since', metadata.deletionTimestamp],
        ]}
      />
      <Conditions conditions={status.conditions ?? []} />
    </Card>
  )
}

function ClusterCard({ cluster: { metadata, status = {} } }: { cluster: LogicalClusterObject }): JSX.Element {
  return (
    <Card title="Logical cluster" note={<Phase phase={status.phase ?? ''} />}>
      <Fields
        fields={[
          [
            'Path',
            metadata.annotations?.['kcp.io/path'] && <code>{metadata.annotations['kcp.io/path']}</code>,
          ],
          [
            'Name',
            metadata.annotations?.[clusterAnnotation] && (
              <code>{metadata.annotations[clusterAnnotation]}</code>
            ),
          ],
          ['URL', status.URL && <Code>{status.URL}</Code>],
        ]}
      />
      {(status.conditions ?? []).length === 0 ? null : <Conditions conditions={status.conditions ?? []} />}
    </Card>
  )
}

const Links = ({ scope }: { scope: string }): JSX.Element => (
  <p class="actions">
    <a class="button" href={hashOf({ page: 'apis', scope, choices: {} })}>
      Exports and bindings
    </a>
    <a class="button" href={hashOf({ page: 'objects', scope, choices: {} })}>
      Objects
    </a>
    <a class="button" href={hashOf({ page: 'access', scope, choices: {} })}>
      Who may do what
    </a>
  </p>
)
