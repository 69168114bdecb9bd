import assert from 'node:assert/strict'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parse } from 'yaml'
import { needsStoreFile } from '../../support/notrun.ts'
import { discard, eventually, kubectlFor, type Oriel, readText, startOriel } from '../../support/oriel.ts'
import { root } from '../../support/source.ts'

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { readonly expr: string }[]
  }[]
}

interface Alerts {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

interface Script {
  readonly dashboard: string
  renderDashboard(): string
}

/** A query, and the panel or alert that has it. */
type Query = readonly [where: string, expr: string]

/** The metrics that a query names, without the suffixes of histograms. */
const metricsIn = (expr: string): readonly string[] =>
  [...expr.matchAll(/\b(?:apiserver|oriel|nodejs|process)_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  )

/** The metrics that a query selects by labels, and the names of the labels. */
const selectedIn = (expr: string): readonly (readonly [string, readonly string[]])[] =>
  [...expr.matchAll(/\b([a-z]+_[a-z0-9_]+)\{([^}]*)\}/g)].map(([, name = '', labels = '']) => [
    name,
    [...labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  ])

/** Labels that Prometheus adds to each series. */
const added = new Set(['job', 'instance'])

describe('the dashboard and the alerts', () => {
  let oriel: Oriel
  let exposed: string
  let script: Script
  let queries: readonly Query[]
  before(async () => {
    script = (await import(pathToFileURL(join(root, 'scripts/dashboard.mjs')).href)) as Script
    oriel = await startOriel()
    const kubectl = kubectlFor(oriel, 'base')
    await kubectlFor(oriel, 'root')(['get', 'namespaces'])
    exposed = await eventually(
      () => kubectl(['get', '--raw', '/metrics']),
      text => text.includes('apiserver_cache_list_total{'),
    )
    const { panels } = JSON.parse(await readText(join(root, script.dashboard))) as Dashboard
    const { groups } = parse(await readText(join(root, 'deploy/chart/files/alerts.yaml'))) as Alerts
    queries = [
      ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }): Query => [title, expr])),
      ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }): Query => [alert, expr])),
    ]
  })
  after(() => discard(oriel))

  it('name only metrics that the server exposes', function () {
    needsStoreFile(this)
    assert.ok(queries.length > 20)
    const unknown = queries.flatMap(([where, expr]) =>
      metricsIn(expr)
        .filter(name => !exposed.includes(`\n# TYPE ${name} `))
        .map(name => `${where}: ${name}`),
    )
    assert.deepEqual(unknown, [])
  })

  it('select by labels that the metrics have', () => {
    const unknown = queries.flatMap(([where, expr]) =>
      selectedIn(expr).flatMap(([name, labels]) => {
        const sample = new RegExp(`^${name}(\\{.*\\})? `, 'm').exec(exposed)?.[1]
        const missing = labels.filter(label => !added.has(label) && !sample?.includes(`${label}="`))
        return sample === undefined ? [] : missing.map(label => `${where}: ${name} has no label ${label}`)
      }),
    )
    assert.deepEqual(unknown, [])
  })

  it('are up to date with scripts/dashboard.mjs', async () =>
    assert.deepEqual(
      JSON.parse(await readText(join(root, script.dashboard))),
      JSON.parse(script.renderDashboard()),
    ))

  it('are accompanied by a heap snapshot and a CPU profile of the running server', async () => {
    const kubectl = kubectlFor(oriel, 'shard-base')
    const heap = JSON.parse(await kubectl(['get', '--raw', '/debug/pprof/heap']))
    assert.ok(heap.snapshot.node_count > 1000)
    const profile = JSON.parse(await kubectl(['get', '--raw', '/debug/pprof/profile?seconds=0.1']))
    assert.ok(profile.nodes.length > 0)
  })
})
