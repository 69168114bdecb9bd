import assert from 'node:assert/strict'
import { type Logger, silent } from '../contract/log.ts'
import { defineVirtualWorkspace } from '../contract/workspace.ts'
import { as, get, host, plain, serving, start, widgets } from '../testing/serving.ts'

interface Line {
  readonly view?: string
  readonly verb?: string
  readonly cluster?: string
  readonly code: number
  readonly user?: string
  readonly milliseconds: number
}

/** A log of level debug. */
function recorded(lines: Line[]): Logger {
  const debug: Logger['debug'] = (fields, message) => {
    if (message === 'request') lines.push(fields as Line)
  }
  const log: Logger = { ...silent, debug, child: () => log, isLevelEnabled: () => true }
  return log
}

describe('the log line of a request', () => {
  const scene = serving()
  const team = defineVirtualWorkspace('team', '/services/team/:team', ({ backend }) => ({
    apis: (_, cluster) => backend.apis(cluster),
  }))

  /** The lines after requests to these paths. */
  async function linesOf(...paths: readonly string[]): Promise<readonly object[]> {
    const lines: Line[] = []
    await start(scene, [team(host(scene)), plain(scene)], { log: recorded(lines) })
    for (const path of paths) await get(scene, path, as('admin'))
    while (lines.length < paths.length) await new Promise(setImmediate)
    assert.ok(lines.every(({ milliseconds }) => milliseconds > 0))
    return lines.map(({ view, verb, cluster, code, user }) => ({ view, verb, cluster, code, user }))
  }

  it('has the view, the verb, the logical cluster and the code of the response', async () => {
    assert.deepEqual(
      await linesOf(
        `/services/team/ops/clusters/root${widgets}`,
        `/services/team/ops/clusters/root${widgets}/missing`,
      ),
      [
        { view: 'team', verb: 'list', cluster: 'root', code: 200, user: 'admin' },
        { view: 'team', verb: 'get', cluster: 'root', code: 404, user: 'admin' },
      ],
    )
  })

  it('has no view for the endpoint of a logical cluster, and nothing of a path that is served by none', async () => {
    assert.deepEqual(await linesOf(`/clusters/root${widgets}`, '/services/unknown/clusters/root/api'), [
      { view: undefined, verb: 'list', cluster: 'root', code: 200, user: 'admin' },
      { view: undefined, verb: undefined, cluster: undefined, code: 404, user: 'admin' },
    ])
  })
})
