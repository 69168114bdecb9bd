import assert from 'node:assert/strict'
import { allow } from '../../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import { apiBindingAdmission } from './apibinding.ts'
import { alice } from './testing/admitting.ts'

describe('admission of an APIBinding', () => {
  const homes: Record<string, string> = { 'root:a': 'foreign' }
  const directory = {
    referencedCluster: ({ path = '' }) => homes[path],
    apiExport: (_cluster: string, name: string) => ({ metadata: { name } }),
  } as unknown as ClusterDirectory
  const authorizer = {
    authorize: async (_user: unknown, { cluster }: { readonly cluster: string }) =>
      cluster === 'own' ? allow('') : { effect: 'deny', reason: '' },
  } as never
  const ctx = { actAs: alice } as unknown as RequestContext
  const { mutate, validate } = apiBindingAdmission({ directory, authorizer })
  const object: KubeObject = {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name: 'b' },
    spec: { reference: { export: { path: 'root:a', name: 'e' } } },
  }
  const request = {
    operation: 'CREATE',
    group: 'apis.kcp.io',
    resource: 'apibindings',
    subresource: '',
    key: { cluster: 'c', namespace: '', name: 'b' },
  }
  const admit = async (between: () => void): Promise<void> => {
    const mutated = await mutate?.(ctx, { ...request, object } as never, undefined as never)
    between()
    await validate?.(ctx, { ...request, object: mutated } as never)
  }

  it('checks the permission for the export of its label, although the path leads to another one meanwhile', async () => {
    await assert.rejects(
      admit(() => {
        homes['root:a'] = 'own'
      }),
      { code: 403 },
    )
    await admit(() => undefined)
  })

  it('takes an empty path as none, as kcp does', async () => {
    const local = { ...object, spec: { reference: { export: { path: '', name: 'e' } } } }
    homes[''] = 'own'
    const mutated = await mutate?.(ctx, { ...request, object: local } as never, undefined as never)
    assert.deepEqual(mutated?.spec, { reference: { export: { name: 'e' } } })
  })
})
