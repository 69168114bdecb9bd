import assert from 'node:assert/strict'
import { type AdmissionAttributes, inOneVersion } from '../../../framework/contract/admission.ts'
import { allow, deny } from '../../../framework/contract/authorizer.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { testContext } from '../../../test/support/context.ts'
import { paramAccess } from './paramaccess.ts'

const group = 'admissionregistration.k8s.io'
const paramKind = { apiVersion: 'v1', kind: 'Secret' }

const policy = (spec: object): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'a' },
  spec,
})
const binding = (spec: object): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'a' },
  spec: { policyName: 'a', ...spec },
})

/** Writes an object as a user with these permissions: `get secrets default/word`. */
async function write(permitted: readonly string[], object: KubeObject, old?: KubeObject): Promise<void> {
  const names = { kind: 'Secret', plural: 'secrets' }
  const deps = {
    informers: { for: () => ({ get: () => ({ object: policy({ paramKind }) }) }) },
    backend: {
      apis: () => ({ resources: [{ group: '', version: 'v1', names }] }),
      authorizer: {
        authorize: async (
          _: object,
          { verb, resource }: { verb: string; resource: Record<string, string> },
        ) =>
          permitted.includes(`${verb} ${resource.resource} ${resource.namespace}/${resource.name}`)
            ? allow('')
            : deny(''),
      },
    },
  }
  const isPolicy = object.kind.endsWith('Policy')
  const request: AdmissionAttributes = {
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    group,
    resource: isPolicy ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings',
    ...inOneVersion('v1'),
    subresource: '',
    key: { cluster: 'one', namespace: '', name: 'a' },
    dryRun: false,
    object,
    ...(old && { old }),
  }
  await paramAccess(deps as never).validate?.(testContext(), request)
}

describe('a user who may write admission policies, but not read their parameters', () => {
  it('cannot read them by the messages of a policy', async () => {
    await write(['get secrets /'], policy({ paramKind }))
    await assert.rejects(write(['get secrets default/'], policy({ paramKind })), {
      code: 422,
      message:
        /spec.paramKind: Forbidden: user "\S*" must have "get" permission on all objects of the referenced paramKind \(kind=Secret, apiVersion=v1\)$/,
    })
    const unknown = { apiVersion: 'example.com/v1', kind: 'Vault' }
    await assert.rejects(write(['get secrets /'], policy({ paramKind: unknown })), { code: 422 })
    await write(['get * /'], policy({ paramKind: unknown }))
    await write([], policy({}))
    await write([], policy({ paramKind, failurePolicy: 'Ignore' }), policy({ paramKind }))
  })

  it('cannot name them in a binding', async () => {
    const word = { paramRef: { name: 'word', namespace: 'default' } }
    const all = { paramRef: { selector: {} } }
    await write(['get secrets default/word'], binding(word))
    await assert.rejects(write(['get secrets default/other'], binding(word)), {
      code: 422,
      message: /spec.paramRef: Forbidden: user "\S*" does not have "get" permission on the object/,
    })
    await write(['list secrets /'], binding(all))
    await assert.rejects(write(['get secrets /'], binding(all)), /does not have "list" permission/)
    await write([], binding({}))
    await write([], binding({ ...word, validationActions: ['Deny'] }), binding(word))
    await assert.rejects(write([], binding({ ...word, policyName: 'b' }), binding(word)), { code: 422 })
  })
})
