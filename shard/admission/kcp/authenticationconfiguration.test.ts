import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { loopback } from '../../../framework/request/user.ts'
import { admitting, create } from './testing/admitting.ts'

describe('admission of authentication configurations', () => {
  const scene = admitting()
  const configurations = () => ({
    ...scene.tenancy.workspaceTypes,
    resource: 'workspaceauthenticationconfigurations',
  })
  const configuration = (name: string, ...jwt: readonly object[]): KubeObject => ({
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'WorkspaceAuthenticationConfiguration',
    metadata: { name },
    spec: { jwt },
  })
  const groups = { claim: 'groups', prefix: '' }
  const entry = (expression: string, issuer: object = {}) => ({
    issuer: { url: 'https://idp.example.com', audiences: ['a'], ...issuer },
    claimMappings: { username: { expression }, groups },
  })
  const warningsOf = async (object: KubeObject): Promise<readonly string[]> => {
    const before = scene.shard.warnings.length
    await create(scene, loopback, configurations(), object)
    return scene.shard.warnings.slice(before)
  }

  it('accepts a usable configuration without warnings', async () => {
    assert.deepEqual(await warningsOf(configuration('good', entry('claims.sub'))), [])
  })

  it('warns of configurations that authenticate no user', async () => {
    const nonsense = entry("concat('oidc:', email)")
    const [why, ...more] = await warningsOf(configuration('nonsense', entry('claims.sub'), nonsense))
    assert.match(
      why ?? '',
      /^this issuer will not be used: spec.jwt\[1\].claimMappings.username.expression: /,
    )
    assert.deepEqual(more, [])
    const [plain] = await warningsOf(
      configuration('plain', entry('claims.sub', { url: 'http://idp.example.com' })),
    )
    assert.match(plain ?? '', /URL scheme must be https/)
    const [silent] = await warningsOf(configuration('nobody', entry('claims.sub', { audiences: [] })))
    assert.match(silent ?? '', /at least one spec.jwt\[0\].issuer.audiences is required/)
  })

  it('accepts as many issuers as Kubernetes does, with claims instead of expressions', async () => {
    const claims = { username: { claim: 'sub', prefix: '' }, groups }
    const many = Array.from({ length: 64 }, (_, i) => ({
      ...entry('', { url: `https://i${i}.example.com` }),
      claimMappings: claims,
    }))
    assert.deepEqual(await warningsOf(configuration('many', ...many)), [])
  })

  it('refuses more issuers, audiences or expressions than a tenant may have', async () => {
    const many = Array.from({ length: 65 }, (_, i) =>
      entry('claims.sub', { url: `https://i${i}.example.com` }),
    )
    const rules = { userValidationRules: Array(200).fill({ expression: 'true', message: 'no' }) }
    const audiences = Array.from({ length: 501 }, (_, i) => `a${i}`)
    for (const [jwt, problem] of [
      [
        [entry('claims.sub', { audiences }), entry('claims.sub', { audiences })],
        /spec.jwt: 1002 audiences, at most 1000 are allowed/,
      ],
      [many, /spec.jwt: 65 issuers, at most 64 are allowed/],
      [[entry(`claims.sub + '${'x'.repeat(16_384)}'`)], /spec.jwt: the expressions have \d+ characters/],
      [[{ ...entry('claims.sub'), ...rules }], /spec.jwt: the expressions have \d+ characters/],
    ] as const)
      await assert.rejects(create(scene, loopback, configurations(), configuration('large', ...jwt)), problem)
  })

  it('leaves fields of the wrong type to the schema', async () => {
    for (const jwt of [7, [7], [{ issuer: 'a' }], [{ claimMappings: { extra: {} } }]])
      await assert.rejects(
        create(scene, loopback, configurations(), { ...configuration('shapeless'), spec: { jwt } }),
        { code: 422 },
      )
  })
})
