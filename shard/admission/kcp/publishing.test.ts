import assert from 'node:assert/strict'
import { type AdmissionAttributes, inOneVersion } from '../../../framework/contract/admission.ts'
import { type Authorizer, allow, deny } from '../../../framework/contract/authorizer.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { testContext } from '../../../test/support/context.ts'
import { publishingAdmission } from './publishing.ts'

/** Writes an object as a user with these verbs on these resources. */
async function write(permitted: readonly string[], object: KubeObject, old?: KubeObject): Promise<void> {
  const authorizer: Authorizer = {
    authorize: async (_user, { verb, resource }) =>
      permitted.includes(`${verb} ${resource?.resource}/${resource?.subresource}`) ? allow('') : deny(''),
  }
  const [group = '', version = ''] = object.apiVersion.split('/')
  const request: AdmissionAttributes = {
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    group,
    resource: `${object.kind.toLowerCase()}s`,
    ...inOneVersion(version),
    subresource: '',
    key: { cluster: 'one', namespace: '', name: 'a' },
    dryRun: false,
    object,
    ...(old && { old }),
  }
  await publishingAdmission(authorizer).validate?.(testContext(), request)
}

const verbs = ['get', 'list', 'watch']

describe('a user who may write exports, but not read what they publish', () => {
  const offering = (name: string, labels: Record<string, string> = {}, identityHash = 'uid'): KubeObject => {
    const reference = { apiGroup: 'views.oriel.dev', kind: 'View', name }
    const storage = { virtual: { reference, identityHash } }
    const resources = [{ group: 'example.com', name: 'vaults', schema: 'v1.vaults.example.com', storage }]
    return {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIExport',
      metadata: { name: 'a', labels },
      spec: { resources },
    }
  }

  it('cannot offer the content of a View', async () => {
    const content = verbs.map(verb => `${verb} views/content`)
    await write(content, offering('public'))
    for (const missing of content)
      await assert.rejects(
        write(
          content.filter(each => each !== missing),
          offering('public'),
        ),
        /spec.resources\[0\].storage.virtual: you can publish only what you can read: \w+ on views\/content.views.oriel.dev "public"$/,
      )
    await assert.rejects(write([], offering('other'), offering('public')), /"other"$/)
    await assert.rejects(write([], offering('public', {}, 'new'), offering('public')), /"public"$/)
    await write([], offering('public', { more: 'yes' }), offering('public'))
  })

  it('cannot publish a resource by a ClusterCachedResource', async () => {
    const publishing = (resource: string, labelSelector?: object): KubeObject => ({
      apiVersion: 'cache.kcp.io/v1alpha1',
      kind: 'ClusterCachedResource',
      metadata: { name: 'a' },
      spec: { group: 'example.com', version: 'v1', resource, ...(labelSelector && { labelSelector }) },
    })
    const reads = verbs.map(verb => `${verb} vaults/`)
    await write(reads, publishing('vaults'))
    await assert.rejects(write(reads.slice(1), publishing('vaults')), /get on vaults.example.com$/)
    await assert.rejects(write(reads, publishing('safes'), publishing('vaults')), /get on safes.example.com$/)
    await write([], publishing('vaults', { matchLabels: { a: 'b' } }), publishing('vaults'))
  })
})
