import assert from 'node:assert/strict'
import type { KubeObject } from '../framework/meta/object.ts'
import type { TestReply, TestUser, WatchHistory } from './user.ts'

/** The requests that the tests send: a `TestUser`, or a client of another server. */
export interface ContractUser extends Pick<TestUser, 'request' | 'list'> {
  watch(path: string): Promise<Pick<WatchHistory, 'until' | 'close'>>
}

/** A view, an object that it shows to a user, and one that it hides. */
export interface ContractOptions {
  readonly user: () => ContractUser
  /** The list of the resource in one logical cluster: `/services/team/ops/clusters/one/api/v1/namespaces/default/configmaps`. */
  readonly path: string
  /** The name of an object that the view shows. */
  readonly shown: string
  /** The name of an object that the view hides. */
  readonly hidden: string
  /** A text that only hidden objects and hidden fields have. */
  readonly secret: string
  /** Selectors that match hidden objects or fields: `labelSelector=team=red`, `fieldSelector=type=Opaque`. */
  readonly selectors?: readonly string[]
}

/** A test: call `run` in a test of any framework. It rejects if the view breaks the contract. */
export interface ContractTest {
  readonly name: string
  readonly run: () => Promise<void>
}

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const metadataOnly = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }
const missing = 'no-such-object'

/**
 * What every view that hides objects or fields has to pass: hidden objects are like missing ones for all verbs, and nothing
 * of them is in lists, tables, watches, errors, or the results of selectors.
 *
 * ```ts
 * for (const { name, run } of viewContract({ user: () => ada, path, shown: 'a', hidden: 'b', secret: 'sesame' })) it(name, run)
 * ```
 */
export function viewContract(options: ContractOptions): readonly ContractTest[] {
  const { user, path, shown, hidden, selectors = [] } = options
  const tests: Readonly<Record<string, () => Promise<void>>> = {
    'shows the object': async () => {
      const { status, text } = await user().request(`${path}/${shown}`)
      assert.equal(status, 200, text)
      hasNo(options, text, 'GET')
    },
    'lists the object, and not the hidden one': async () => {
      const names = (await user().list(path)).map(({ metadata }) => metadata.name)
      assert.ok(names.includes(shown), `${shown} is not listed: ${names}`)
      assert.ok(!names.includes(hidden), `${hidden} is listed`)
    },
    'shows nothing hidden in lists, tables and lists of metadata': async () => {
      for (const headers of [{}, table, metadataOnly]) {
        const { status, text } = await user().request(path, { headers })
        assert.equal(status, 200, text)
        hasNo(options, text, 'LIST')
      }
    },
    'answers for a hidden object as for a missing one': () => likeMissing(options),
    'does not find hidden objects by selectors': async () => {
      for (const selector of selectors) {
        const { status, text, object } = await user().request(`${path}?${selector}`)
        assert.equal(status, 200, text)
        hasNo(options, text, selector)
        assert.deepEqual(object?.items, [], `${selector} finds what is hidden`)
      }
      const { items = [] } =
        (await user().request(`${path}?fieldSelector=metadata.name%3D${hidden}`)).object ?? {}
      assert.deepEqual(items, [], 'a field selector finds the hidden object')
    },
    'watches the same as it lists': () => watchedAsListed(options),
    'shows no resourceVersion of a hidden object': () => withoutVersion(options),
  }
  return Object.entries(tests).map(([name, run]) => ({ name, run }))
}

async function withoutVersion({ user, path, hidden }: ContractOptions): Promise<void> {
  for (const { method } of writes) {
    const { text } = await user().request(`${path}/${hidden}`, { method })
    assert.ok(!text.includes('resourceVersion'), text)
  }
}

const hasNo = ({ secret }: ContractOptions, text: string, what: string): void =>
  assert.ok(!text.includes(secret), `${what} shows ${JSON.stringify(secret)}: ${text}`)

const writes = [
  { method: 'GET' },
  { method: 'DELETE' },
  { method: 'PATCH', body: { metadata: { labels: { probe: 'yes' } } } },
] as const

async function likeMissing(options: ContractOptions): Promise<void> {
  const { user, path, hidden } = options
  for (const request of writes) {
    const [found, none] = await Promise.all([
      user().request(`${path}/${hidden}`, request),
      user().request(`${path}/${missing}`, request),
    ])
    hasNo(options, found.text, request.method)
    assert.deepEqual(
      comparable(found, hidden),
      comparable(none, missing),
      `${request.method} tells ${hidden} from none`,
    )
    assert.ok(found.status >= 400, `${request.method} of a hidden object is ${found.status}`)
  }
}

/** A response without the name of the object. */
const comparable = ({ status, text }: TestReply, name: string): unknown => [
  status,
  text.replaceAll(name, '<name>'),
]

async function watchedAsListed(options: ContractOptions): Promise<void> {
  const { user, path, shown, hidden } = options
  const watch = await user().watch(path)
  try {
    const events = await watch.until(all => all.some(({ object }) => object.metadata?.name === shown))
    hasNo(options, JSON.stringify(events), 'WATCH')
    assert.ok(!events.some(({ object }: { object: KubeObject }) => object.metadata?.name === hidden))
  } finally {
    watch.close()
  }
}
