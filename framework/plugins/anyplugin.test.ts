import assert from 'node:assert/strict'
import { array, asyncProperty, assert as check, constantFrom, pre } from 'fast-check'
import { createTinyShard, widget } from '../../test/support/tinyshard.ts'
import { as, create, get, plain, type Serving, serving, start, widgets } from '../testing/serving.ts'
import { members, misbehaving, misbehaviors } from './testing/misbehaving.ts'
import { supervisedIn } from './testing/supervised.ts'

const runs = Number(process.env.PLUGIN_RUNS ?? 30)
const path = `/services/sick/clusters/team${widgets}`
const json = { 'content-type': 'application/json' }
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const secret = { labels: { hidden: 'yes' }, annotations: { word: 'sesame' } }

/** Requests of every kind: none of them may take long, nor show what is hidden. */
const requests = [
  { below: path },
  { below: path, headers: table },
  { below: `${path}?labelSelector=hidden%3Dyes` },
  { below: `${path}/shown` },
  { below: `${path}/secret` },
  { below: `${path}?watch=true&timeoutSeconds=1` },
  { below: path, method: 'POST', headers: json, body: JSON.stringify(widget('default', 'written')) },
  {
    below: `${path}/secret`,
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{}',
  },
  {
    below: `${path}/written`,
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{"spec":{}}',
  },
  { below: `${path}/written`, method: 'DELETE' },
  { below: `${path}/secret`, method: 'DELETE' },
  {
    below: `${path}/secret`,
    method: 'PUT',
    headers: json,
    body: JSON.stringify(widget('default', 'secret')),
  },
  { below: `${path}?labelSelector=hidden`, method: 'DELETE' },
  { below: '/services/sick/clusters/team/apis/example.com/v1' },
]

async function stored(scene: Serving): Promise<unknown> {
  const { status, json: list } = await get(scene, `/clusters/team${widgets}`)
  assert.equal(status, 200)
  const items: readonly { readonly metadata: { readonly name: string } }[] = list.items
  return items.filter(({ metadata }) => metadata.name !== 'written')
}

describe('a plugin that misbehaves', function () {
  this.timeout(240_000)
  const scene = serving()

  async function sceneWith(member: string, misbehavior: string) {
    Object.assign(scene, { stop: new AbortController(), shard: createTinyShard() })
    const sick = supervisedIn(scene, import.meta.filename, misbehaving(member, misbehavior))
    await start(scene, [plain(scene), sick.view], { requestTimeout: 500 })
    const body = JSON.stringify(widget('default', 'secret', secret))
    const posted = as('admin', { method: 'POST', headers: json, body })
    assert.equal((await create(scene, 'team', 'shown')).status, 201)
    assert.equal((await get(scene, `/clusters/team${widgets}`, posted)).status, 201)
    return sick
  }

  async function endScene(): Promise<void> {
    scene.stop.abort()
    await scene.server.close(0)
  }

  it('changes nothing that is stored, shows nothing that is hidden, and stops nothing else', () =>
    check(
      asyncProperty(
        constantFrom(...members),
        constantFrom(...Object.keys(misbehaviors)),
        array(constantFrom(...requests), { minLength: 1, maxLength: 4 }),
        async (member, misbehavior, sent) => {
          // A lens without members shows everything: that is right.
          pre(member !== 'lens.view' || misbehavior !== 'returns an empty object')
          const what = `${member} ${misbehavior}`
          try {
            await sceneWith(member, misbehavior)
            const before = await stored(scene)
            for (const { below, ...request } of sent) {
              const { status, body } = await get(scene, below, as('reader', request))
              assert.ok(status >= 200 && status < 600, what)
              assert.ok(
                !body.includes('sesame') || body.includes('sesame?'),
                `${what}: ${below} shows ${body}`,
              )
            }
            assert.deepEqual(await stored(scene), before)
            assert.equal((await get(scene, '/readyz')).status, 200, what)
          } finally {
            await endScene()
          }
        },
      ),
      { numRuns: runs },
    ))

  // The suite's own server.
  beforeEach(() => sceneWith('lens.narrow', 'blocks'))
})
