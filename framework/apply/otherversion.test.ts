import assert from 'node:assert/strict'
import { inTurns, Pace } from '../async/awaitable.ts'
import { StatusError } from '../meta/errors.ts'
import type { MergeSchema } from '../meta/mergeschema.ts'
import type { KubeObject } from '../meta/object.ts'
import { wholeSchema } from '../meta/objectmeta.ts'
import { applyConfiguration, type ManagedEndpoint, trackUpdate } from './fieldmanager.ts'
import type { ConvertObject } from './otherversion.ts'
import { typeOf } from './typed/types.ts'

// A kind whose v1 names `color` what v2 names `colour`, and whose `args` are atomic in v1 and a set in v2.

type Spec = Readonly<Record<string, unknown>>

const text: MergeSchema = { type: 'string' }
const texts: MergeSchema = { type: 'array', items: text }
const setOfTexts: MergeSchema = { ...texts, 'x-kubernetes-list-type': 'set' }
const types = new Map(
  Object.entries({ v1: 'color', v2: 'colour' }).map(([version, name]) => {
    const args = version === 'v1' ? texts : setOfTexts
    const properties = { [name]: text, size: text, note: text, args, tags: setOfTexts }
    const spec = { type: 'object', properties }
    return [`example.com/${version}`, typeOf(wholeSchema({ type: 'object', properties: { spec } }))]
  }),
)

const renamed = (spec: Spec, from = '', to = ''): Spec => {
  const { [from]: value, ...others } = spec
  return value === undefined ? others : { ...others, [to]: value }
}

const convert: ConvertObject = async (object, apiVersion) => {
  const spec = object.spec as Spec | undefined
  const [from, to] = apiVersion.endsWith('v1') ? ['colour', 'color'] : ['color', 'colour']
  return { ...object, apiVersion, ...(spec && { spec: renamed(spec, from, to) }) }
}

function endpointOf(version: string, converting: ConvertObject): ManagedEndpoint {
  const apiVersion = `example.com/${version}`
  const type = types.get(apiVersion)
  assert.ok(type)
  const kind = 'Widget'
  return {
    kind,
    apiVersion,
    subresource: '',
    type,
    versions: each => types.get(each),
    convert: converting,
    filter: fields => fields,
    zero: { apiVersion, kind, metadata: {} },
  }
}

const time = '2026-01-01T00:00:00Z'

interface Write {
  readonly by: string
  readonly version: string
  readonly spec: Spec | undefined
  readonly live?: KubeObject
  readonly converting?: ConvertObject
}

const widget = ({ version, spec }: Write): KubeObject => ({
  apiVersion: `example.com/${version}`,
  kind: 'Widget',
  metadata: { name: 'w' },
  ...(spec && { spec }),
})

/** The live object in the version of a request, as a storage gives it. */
const liveIn = async ({ version, live }: Write): Promise<KubeObject | undefined> =>
  live && ((await convert(live, `example.com/${version}`)) as KubeObject)

async function apply(write: Write): Promise<KubeObject> {
  const endpoint = endpointOf(write.version, write.converting ?? convert)
  const writer = { manager: write.by, time, force: false }
  const steps = applyConfiguration(endpoint, writer, { ...widget(write) }, await liveIn(write))
  return inTurns(steps, new Pace())
}

async function update(write: Write): Promise<KubeObject> {
  const endpoint = endpointOf(write.version, write.converting ?? convert)
  const live = await liveIn(write)
  const next = { ...widget(write), metadata: live?.metadata ?? {} }
  return inTurns(trackUpdate(endpoint, { manager: write.by, time }, next, live), new Pace())
}

/** An object of which m2 owns the empty spec only. */
const parentOnly = (): Promise<KubeObject> => update({ by: 'm2', version: 'v1', spec: {} })

const entriesOf = ({ metadata }: KubeObject): readonly string[] =>
  (metadata.managedFields as readonly { manager: string; apiVersion: string; fieldsV1: object }[]).map(
    ({ manager, apiVersion, fieldsV1 }) => `${manager} ${apiVersion} ${JSON.stringify(fieldsV1)}`,
  )

const failing: ConvertObject = async () => {
  throw new StatusError(500, '', 'the webhook fails')
}

describe('server-side apply in several versions', () => {
  it('keeps what a manager applies in another version than before, and removes what it leaves out', async () => {
    const first = await apply({ by: 'm1', version: 'v1', spec: { color: 'red', size: 'l' } })
    const noted = await update({
      by: 'm2',
      version: 'v1',
      spec: { color: 'red', size: 'l', note: 'n' },
      live: first,
    })
    const next = await apply({ by: 'm1', version: 'v2', spec: { colour: 'red' }, live: noted })
    assert.deepEqual(next.spec, { colour: 'red', note: 'n' })
    const back = await apply({ by: 'm1', version: 'v1', spec: { color: 'blue' }, live: next })
    assert.deepEqual(back.spec, { color: 'blue', note: 'n' })
    const { spec } = await apply({ by: 'm1', version: 'v2', spec: { size: 's' }, live: back })
    assert.deepEqual(spec, { note: 'n', size: 's' })
  })

  it('keeps the fields that others own in other versions', async () => {
    const first = await apply({ by: 'm1', version: 'v1', spec: { color: 'red', size: 'l' } })
    const shared = await apply({ by: 'm2', version: 'v2', spec: { colour: 'red' }, live: first })
    const next = await apply({ by: 'm1', version: 'v1', spec: { note: 'n' }, live: shared })
    assert.deepEqual(next.spec, { color: 'red', note: 'n' })
  })

  it('removes a field whose parent another manager owns in another version, and keeps the parent', async () => {
    const created = await update({ by: 'm2', version: 'v1', spec: { note: 'n' } })
    const applied = await apply({ by: 'm1', version: 'v1', spec: { color: 'red', size: 'l' }, live: created })
    const next = await apply({ by: 'm1', version: 'v2', spec: { colour: 'red' }, live: applied })
    assert.deepEqual(next.spec, { colour: 'red', note: 'n' })
    const empty = await apply({ by: 'm1', version: 'v1', spec: { size: 'l' }, live: await parentOnly() })
    const { spec } = await apply({ by: 'm1', version: 'v2', spec: undefined, live: empty })
    assert.deepEqual(spec, {})
  })

  it('keeps a parent with an empty list that only the version of the last apply counts', async () => {
    const applied = await apply({ by: 'm1', version: 'v1', spec: { size: 'l', args: [] } })
    const spec = { size: 'l', args: [], tags: [] }
    const tagged = await update({ by: 'm2', version: 'v2', spec, live: applied })
    const live = { ...tagged, spec: { ...spec, note: 'of nobody' } }
    const next = await apply({ by: 'm1', version: 'v2', spec: undefined, live })
    assert.deepEqual(next.spec, { args: [], tags: [], note: 'of nobody' })
    assert.deepEqual(entriesOf(next), ['m2 example.com/v2 {"f:spec":{"f:tags":{}}}'])
  })

  it('removes a parent with an empty list that no version counts', async () => {
    const applied = await apply({ by: 'm1', version: 'v1', spec: { size: 'l' } })
    const live = await update({ by: 'm2', version: 'v2', spec: { size: 'l', tags: [] }, live: applied })
    const next = await apply({ by: 'm1', version: 'v2', spec: undefined, live })
    assert.equal(next.spec, undefined)
  })

  it('conflicts with the owner of the same field in another version', async () => {
    const live = await apply({ by: 'm1', version: 'v1', spec: { color: 'red' } })
    await assert.rejects(
      apply({ by: 'm2', version: 'v2', spec: { colour: 'blue' }, live }),
      /conflict with "m1".*: .spec.color$/,
    )
  })

  it('takes a field from its owner in another version with an update', async () => {
    const live = await apply({ by: 'm1', version: 'v1', spec: { color: 'red', size: 'l' } })
    const next = await update({ by: 'm2', version: 'v2', spec: { colour: 'blue', size: 'l' }, live })
    assert.deepEqual(entriesOf(next), [
      'm1 example.com/v1 {"f:spec":{"f:size":{}}}',
      'm2 example.com/v2 {"f:spec":{"f:colour":{}}}',
    ])
  })

  it('converts once for all managers of a version: a webhook may be asked each time', async () => {
    let asked = 0
    const counting: ConvertObject = (object, apiVersion) => {
      asked++
      return convert(object, apiVersion)
    }
    const callsFor = async (managers: number): Promise<number> => {
      let live = await apply({ by: 'm', version: 'v1', spec: { size: 'l', note: 'n' } })
      for (let i = 0; i < managers; i++)
        live = await apply({ by: `m${i}`, version: 'v1', spec: { color: 'red' }, live })
      asked = 0
      const next = await apply({ by: 'm', version: 'v2', spec: { note: 'n' }, live, converting: counting })
      assert.deepEqual(next.spec, { colour: 'red', note: 'n' })
      return asked
    }
    assert.equal(await callsFor(20), await callsFor(1))
  })

  it('fails with the error of a conversion, and an update is no longer tracked', async () => {
    const live = await apply({ by: 'm1', version: 'v1', spec: { color: 'red' } })
    const write = { by: 'm2', version: 'v2', spec: { colour: 'red', size: 'l' }, live, converting: failing }
    await assert.rejects(apply(write), { message: 'the webhook fails' })
    const { metadata, spec } = await update(write)
    assert.deepEqual([spec, metadata.managedFields], [write.spec, undefined])
  })
})
