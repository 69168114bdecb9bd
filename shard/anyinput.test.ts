import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ApiResource } from '../framework/contract/apis.ts'
import { StatusError } from '../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import { apiVersionOf, type KubeObject } from '../framework/meta/object.ts'
import { loopback } from '../framework/request/user.ts'
import { resources } from '../kcp/resources.ts'
import { apiResourceSchemaOf } from '../openapi/definitions/definition.ts'
import { kubeCluster } from '../openapi/definitions/kcp/kubecluster.ts'
import { ask, jsonOf, type Told } from '../test/support/widgets.ts'
import { anyJson, anyPlace, contentsOf, lost, type Place, withValueAt } from './testing/anyplace.ts'
import { openKcpShard } from './testing/kcpshard.ts'
import { seedOf } from './testing/seeds.ts'
import type { TestShard } from './testing/shard.ts'

const numRuns = Number(process.env.ANY_INPUT_RUNS ?? 1000)
const alice = { name: 'alice', groups: [] }
const cluster = 'root'

/** Objects that change how later requests are answered: they are not stored. */
const isDryRun = ({ group, names: { plural } }: ApiResource): boolean =>
  group === 'admissionregistration.k8s.io' ||
  ['resourcequotas', 'logicalclusters', 'shards', 'apibindings'].includes(plural)

interface Sending {
  readonly kind: number
  readonly verb: 'create' | 'update' | 'patch'
  readonly places: readonly (readonly [Place, unknown])[]
  readonly subresource: string
  readonly system: boolean
}

/** The codes of refusals. 403: an admission plugin refuses an object with valid types. */
const refusals = [400, 403, 409, 422]

describe('any JSON in any place of any kind', function () {
  this.timeout(0)
  let shard: TestShard
  let kinds: readonly ApiResource[]
  const bases: (Told | StatusError)[] = []
  let made = 0
  before(async () => {
    shard = await openOwn()
    kinds = shard.backend.apis(cluster)?.resources ?? []
    for (const kind of kinds) bases.push(await send(kind, { body: seed(kind, 'base'), query: '' }))
  })
  after(async () => {
    await shard.stop()
    await shard.store.close()
  })

  it('has a valid object of every kind to begin with', () => {
    assert.ok(kinds.some(({ names }) => names.kind === 'KubeCluster'))
    const problems = bases.filter(base => base instanceof StatusError && base.code !== 409)
    assert.deepEqual(problems.map(String), [])
  })

  it('is stored as it was sent, or refused', async () => {
    const sending: fc.Arbitrary<Sending> = fc.nat(kinds.length - 1).chain(index => {
      const resource = kinds[index] as ApiResource
      const status = resource.subresources.some(({ name }) => name === 'status') ? ['', '', 'status'] : ['']
      return fc.record({
        kind: fc.constant(index),
        verb: fc.constantFrom('create', 'create', 'update', 'patch'),
        places: fc.array(fc.tuple(anyPlace(resource.openapi as JSONSchemaProps), anyJson), {
          minLength: 1,
          maxLength: 2,
        }),
        subresource: fc.constantFrom(...status),
        system: fc.boolean(),
      })
    })
    await fc.assert(fc.asyncProperty(sending, check), { numRuns })
  })

  it('is refused where a patch leaves nothing of the spec', async () => {
    const definitions = kinds.find(({ names }) => names.kind === 'CustomResourceDefinition') as ApiResource
    for (const spec of [null, { versions: null }]) {
      const told = await send(definitions, { verb: 'patch', name: 'base.example.com', body: { spec } })
      assert.ok(told instanceof StatusError && told.code === 422, String(told))
    }
  })

  async function check(sending: Sending): Promise<void> {
    const { verb, places, system } = sending
    const resource = kinds[sending.kind] as ApiResource
    const subresource = verb === 'create' ? '' : sending.subresource
    const base = seed(resource, verb === 'create' ? `x${made++}` : 'base')
    const body = places.reduce<object>(
      (object, [place, value]) => withValueAt(object, place, value) as object,
      base,
    )
    const user = system ? loopback : alice
    const name = verb === 'create' ? '' : (base.metadata.name ?? '')
    const told = await send(resource, { verb, body, name, subresource, user })
    if (told instanceof StatusError)
      assert.ok(refusals.includes(told.code), `${told.code} ${told.message}: ${JSON.stringify(body)}`)
    else if (verb !== 'patch' && subresource === '') await compare(resource, body as KubeObject, told)
  }

  async function compare(resource: ApiResource, body: KubeObject, told: Told): Promise<void> {
    const stored = (await jsonOf(told)) as KubeObject
    const status = resource.subresources.some(subresource => subresource.name === 'status')
    const unknown = told.warnings.flatMap(unknownIn)
    const isTold = (path: string) => unknown.some(each => path.startsWith(each))
    const missing = lost(contentsOf(body, status), contentsOf(stored, status), '').filter(
      path => !isTold(path) && !isChanged(resource, path) && !isDefault(path, body, stored),
    )
    assert.deepEqual(missing, [], `${JSON.stringify(body)} is stored as ${JSON.stringify(stored)}`)
  }

  const send = (
    resource: ApiResource,
    asked: Partial<Parameters<typeof ask>[1]>,
  ): Promise<Told | StatusError> =>
    ask(resource, {
      verb: 'create',
      cluster,
      namespace: resource.namespaced ? 'default' : '',
      query: isDryRun(resource) ? 'dryRun=All' : '',
      headers: {
        'content-type': asked.verb === 'patch' ? 'application/merge-patch+json' : 'application/json',
      },
      ...asked,
    }).catch((error: unknown) => {
      if (error instanceof StatusError) return error
      throw error
    })
})

const seed = ({ group, version, names }: ApiResource, name: string): KubeObject => {
  const object = seedOf(names.plural, apiVersionOf(group, version), names.kind, name)
  assert.ok(object, `no seed of ${names.plural}`)
  return object
}

/** The path in the warning about an unknown field, which is quoted as Go does it for built-in kinds only. */
function unknownIn(warning: string): readonly string[] {
  const [, path] = /^unknown field "(.*)"$/s.exec(warning) ?? []
  return path === undefined ? [] : [path, path.replace(/\\(["\\])/g, '$1')]
}

/** An empty text may be stored as the default of the field, and the path of an empty type of a Workspace with its name. */
function isDefault(path: string, body: KubeObject, stored: KubeObject): boolean {
  const isEmpty = [path, ...(path === 'spec.type.path' ? ['spec.type.name'] : [])].some(
    each => (valueAt(body, each) ?? '') === '',
  )
  const value = valueAt(stored, path)
  return isEmpty && typeof value === 'string' && value !== ''
}

const valueAt = (object: object, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], object)

/**
 * Fields that a write to the main resource does not store as they were sent: `stringData` becomes data, secrets of
 * accounts have names only, specs of signing requests and finalizers of namespaces have their own endpoints, an empty
 * apiGroup is the default, and the scheduler sets URL and cluster.
 */
const rewritten: Readonly<Record<string, RegExp>> = {
  secrets: /^(stringData|data)\b/,
  serviceaccounts: /^secrets\b/,
  certificatesigningrequests: /^spec\b/,
  namespaces: /^spec\.finalizers\b/,
  clusterrolebindings: /\bapiGroup$/,
  rolebindings: /\bapiGroup$/,
  workspaces: /^spec\.(URL|cluster)$/,
}

const isChanged = ({ names: { plural } }: ApiResource, path: string): boolean =>
  rewritten[plural]?.test(path) ?? false

async function openOwn(): Promise<TestShard> {
  const { shard } = await openKcpShard()
  return withMounts(shard)
}

/** Exports and binds KubeClusters as the controllers do, which do not run here. */
async function withMounts(shard: TestShard): Promise<TestShard> {
  const { group, names } = kubeCluster
  const key = (name = 'mounts') => ({ cluster, namespace: '', name })
  const schema = apiResourceSchemaOf(kubeCluster, 'v1')
  const { metadata } = await shard.client.create(
    resources.apiResourceSchemas,
    key(schema.metadata.name),
    schema,
  )
  const kind = (kind: string) => ({ apiVersion: 'apis.kcp.io/v1alpha2', kind, metadata: { name: 'mounts' } })
  await shard.client.create(resources.apiExports, key(), { ...kind('APIExport'), spec: {} })
  const spec = { reference: { export: { path: 'root', name: 'mounts' } } }
  await shard.client.create(resources.apiBindings, key(), { ...kind('APIBinding'), spec })
  const bound = {
    group,
    resource: names.plural,
    schema: { name: metadata.name, UID: metadata.uid, identityHash: 'a'.repeat(64) },
    storageVersions: ['v1alpha1'],
  }
  await shard.client.update({ ...resources.apiBindings, subresource: 'status' }, key(), object => ({
    ...object,
    status: { phase: 'Bound', boundResources: [bound] },
  }))
  return shard
}
