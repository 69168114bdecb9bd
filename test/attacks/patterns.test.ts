import assert from 'node:assert/strict'
import { mixedText } from '../../framework/testing/mixedtext.ts'
import { discard, eventually } from '../support/oriel.ts'
import { masters, type People, startWithPeople } from '../support/people.ts'
import { repeatDuring } from '../support/time/during.ts'

const base = '/clusters/root'
const group = 'attacks.example.com'
const path = `${base}/apis/${group}/v1/texts`

const text = { type: 'string', pattern: 'a[ab]{100}[cd]' }
const list = { type: 'array', items: text }
const rule = { rule: "!self.matches('a[ab]{100}[cd]')" }
const properties = { list, ruled: { type: 'string', 'x-kubernetes-validations': [rule] } }

/** A CustomResourceDefinition whose list has this default. */
const definition = (fallback?: readonly string[]): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `texts.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'texts', singular: 'text', kind: 'Text', listKind: 'TextList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { ...properties, list: { ...list, ...(fallback && { default: fallback }) } },
          },
        },
      },
    ],
  },
})

const texts = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, i) => mixedText(length, i))

describe('texts for a costly pattern', function () {
  this.timeout(60_000)
  let people: People
  before(async () => {
    people = await startWithPeople()
  })
  after(() => discard(people.oriel))

  const definitions = `${base}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
  const post = (to: string, body: object) => people.post(masters, to, body)
  const create = (name: string, more: object) =>
    post(path, { apiVersion: `${group}/v1`, kind: 'Text', metadata: { name }, ...more })

  /** The response, and how many other requests were answered until then. */
  async function beside<T>(work: Promise<T>): Promise<readonly [T, number]> {
    const answered = await repeatDuring(work, async () =>
      assert.equal((await people.as(masters)('/livez')).status, 200),
    )
    return [await work, answered]
  }

  it('in the defaults of a schema are refused while others are answered', async () => {
    const [{ status, body }, answered] = await beside(post(definitions, definition(texts(40, 4_000))))
    assert.equal(status, 422)
    assert.match(body, /should match/)
    assert.ok(answered >= 8, `${answered} other requests`)
  })

  it('are validated while others are answered', async () => {
    assert.equal((await post(definitions, definition())).status, 201)
    await eventually(
      () => people.as(masters)(path),
      ({ status }) => status === 200,
    )
    const [{ status, body }, answered] = await beside(create('list', { list: texts(24, 10_000) }))
    assert.equal(status, 422)
    assert.match(body, /list\[23\]: .*should match/)
    assert.ok(answered >= 48, `${answered} other requests`)
    const good = texts(4, 10_000).map(text => `${text}a${mixedText(100, 1)}c`)
    assert.equal((await create('good', { list: good })).status, 201)
  })

  it('are evaluated by rules while others are answered', async () => {
    const [{ status }, answered] = await beside(create('ruled', { ruled: mixedText(25_000, 1) }))
    assert.equal(status, 201)
    assert.ok(answered >= 4, `${answered} other requests`)
  })
})
