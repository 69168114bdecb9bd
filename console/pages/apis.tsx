import type { JSX } from 'preact'
import {
  type BindingObject,
  clusterAnnotation,
  type EndpointSliceObject,
  type ExportObject,
  type LogicalClusterObject,
  pathAnnotation,
  paths,
  type ShownClaim,
} from '../model/objects.ts'
import { type ConsolePlace, hashOf, isView, ownPath } from '../model/place.ts'
import { Card, Code, Conditions, Empty, Fields, Loading, Phase, Problem } from '../parts/basics.tsx'
import { useFollowed, useLoaded, useShared } from '../parts/hooks.ts'

/** The exports of a workspace with who has bound them, and the bindings of the workspace. */
export function Apis({ place }: { place: ConsolePlace }): JSX.Element {
  if (isView(place.scope))
    return (
      <div class="pane">
        <Empty>Exports are in workspaces: press w and give the path of one.</Empty>
      </div>
    )
  return (
    <div class="split even">
      <section class="pane" aria-label="Exports">
        <Exports scope={place.scope} />
      </section>
      <section class="pane" aria-label="Bindings">
        <Bindings scope={place.scope} />
      </section>
    </div>
  )
}

function Exports({ scope }: { scope: string }): JSX.Element {
  const { items, isLoaded, problem } = useFollowed<ExportObject>(paths.exports(scope))
  const slices = useFollowed<EndpointSliceObject>(paths.slices(scope))
  return (
    <>
      <header class="head">
        <h1>Exports</h1>
        <span class="note">{scope}</span>
      </header>
      <Problem problem={problem} />
      {!isLoaded && problem === undefined && <Loading />}
      {isLoaded && items.length === 0 && <Empty>This workspace exports no API.</Empty>}
      {items.map(exported => (
        <ExportCard
          key={exported.metadata.name}
          exported={exported}
          urls={urlsOf(slices.items, exported.metadata.name, scope)}
        />
      ))}
    </>
  )
}

const urlsOf = (slices: readonly EndpointSliceObject[], name: string, scope: string): readonly string[] =>
  slices
    .filter(({ spec }) => spec?.export?.name === name && [undefined, '', scope].includes(spec.export.path))
    .flatMap(({ status }) => status?.endpoints ?? [])
    .map(({ url }) => url)

interface ExportProps {
  readonly exported: ExportObject
  readonly urls: readonly string[]
}

function ExportCard({ exported, urls }: ExportProps): JSX.Element {
  const { metadata, spec = {}, status = {} } = exported
  const { resources = [], permissionClaims = [] } = spec
  const view = urls.map(url => ownPath(url, location.origin)).find(path => path !== undefined)
  return (
    <Card
      title={metadata.name}
      note={`${resources.length} ${resources.length === 1 ? 'resource' : 'resources'}`}
    >
      <Fields
        fields={[
          [
            'Resources',
            <Names
              key=""
              names={resources.map(({ group, name }) => (group === '' ? name : `${name}.${group}`))}
            />,
          ],
          ['Identity', status.identityHash && <code class="hash">{status.identityHash}</code>],
          ['URLs', urls.length === 0 ? 'none: no workspace has bound it' : <Urls urls={urls} />],
        ]}
      />
      <Claims title="Claims" claims={permissionClaims} />
      {view !== undefined && <Consumers view={view} />}
      <Conditions conditions={(status.conditions ?? []).filter(each => each.status !== 'True')} />
    </Card>
  )
}

const Names = ({ names }: { names: readonly string[] }): JSX.Element => (
  <span class="names">
    {names.map(name => (
      <Code key={name}>{name}</Code>
    ))}
  </span>
)

/** Published URLs; those of this server open the table of the objects there. */
const Urls = ({ urls }: { urls: readonly string[] }): JSX.Element => (
  <ul class="urls">
    {urls.map(url => {
      const path = ownPath(url, location.origin)
      if (path === undefined)
        return (
          <li key={url}>
            <Code>{url}</Code>
          </li>
        )
      return (
        <li key={url}>
          <a href={hashOf({ page: 'objects', scope: `${path}/clusters/*`, choices: {} })}>
            <Code>{path}</Code>
          </a>
        </li>
      )
    })}
  </ul>
)

interface ClaimsProps {
  readonly title: string
  readonly claims: readonly ShownClaim[]
}

function Claims({ title, claims }: ClaimsProps): JSX.Element | null {
  if (claims.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <ul class="rows">
        {claims.map(({ group = '', resource, verbs = [], identityHash = '', state }) => (
          <li key={`${group}/${resource}/${identityHash}`}>
            <Code>{group === '' ? resource : `${resource}.${group}`}</Code>
            <span class="note">{verbs.join(', ')}</span>
            {state !== undefined && <Phase phase={state} />}
          </li>
        ))}
      </ul>
    </>
  )
}

/** The bindings of an export in all workspaces, as its view shows them. */
function Consumers({ view }: { view: string }): JSX.Element {
  const path = `${view}/clusters/*/apis/apis.kcp.io/v1alpha2/apibindings`
  const { items, isLoaded, problem } = useFollowed<BindingObject>(path)
  return (
    <>
      <h3>
        Bound by <span class="note">{isLoaded ? items.length.toLocaleString('en') : ''}</span>
      </h3>
      <Problem problem={problem} />
      {isLoaded && items.length === 0 && <Empty>No workspace.</Empty>}
      <ul class="rows tall">
        {items.slice(0, mostConsumers).map(binding => (
          <Consumer key={binding.metadata.annotations?.[clusterAnnotation]} binding={binding} />
        ))}
      </ul>
      {items.length > mostConsumers && <Empty>{`and ${items.length - mostConsumers} more`}</Empty>}
    </>
  )
}

const mostConsumers = 50

function Consumer({ binding: { metadata, spec, status } }: { binding: BindingObject }): JSX.Element {
  const { api } = useShared()
  const cluster = metadata.annotations?.[clusterAnnotation] ?? ''
  const { value } = useLoaded(cluster, signal =>
    api.json<LogicalClusterObject>(paths.logicalCluster(cluster), { signal }),
  )
  const path = value?.metadata.annotations?.[pathAnnotation] ?? cluster
  const claims = spec?.permissionClaims ?? []
  const accepted = claims.filter(({ state }) => state === 'Accepted').length
  return (
    <li>
      <a href={hashOf({ page: 'workspaces', scope: path, choices: {} })}>{path}</a>
      <span class="note">{claims.length === 0 ? '' : `${accepted} of ${claims.length} claims accepted`}</span>
      <Phase phase={status?.phase ?? ''} />
    </li>
  )
}

function Bindings({ scope }: { scope: string }): JSX.Element {
  const { items, isLoaded, problem } = useFollowed<BindingObject>(paths.bindings(scope))
  return (
    <>
      <header class="head">
        <h1>Bindings</h1>
        <span class="note">APIs that this workspace uses</span>
      </header>
      <Problem problem={problem} />
      {!isLoaded && problem === undefined && <Loading />}
      {isLoaded && items.length === 0 && <Empty>This workspace binds no export.</Empty>}
      {items.map(({ metadata, spec, status = {} }) => {
        const { name = '', path = '' } = spec?.reference?.export ?? {}
        return (
          <Card key={metadata.name} title={metadata.name} note={<Phase phase={status.phase ?? ''} />}>
            <Fields
              fields={[
                [
                  'Export',
                  <a
                    key=""
                    href={hashOf({ page: 'apis', scope: path || scope, choices: {} })}
                  >{`${path}${path && ':'}${name}`}</a>,
                ],
                [
                  'Resources',
                  <Names
                    key=""
                    names={(status.boundResources ?? []).map(
                      ({ group, resource }) => `${resource}${group && `.${group}`}`,
                    )}
                  />,
                ],
              ]}
            />
            <Claims title="Claims" claims={spec?.permissionClaims ?? []} />
            <Conditions conditions={(status.conditions ?? []).filter(each => each.status !== 'True')} />
          </Card>
        )
      })}
    </>
  )
}
