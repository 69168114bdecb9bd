import assert from 'node:assert/strict'
import type { BoundExport } from '../../../../authz/chain/maximalpolicy.ts'
import { action, clusterBinding, createFixture, user, userNamed } from '../../../../authz/testing/fixture.ts'
import type { Decision } from '../../../../framework/contract/authorizer.ts'
import { itemOf } from '../../../../framework/contract/item.ts'
import type { Host, UserInfo } from '../../../../framework/index.ts'
import type { APIBinding, APIExport } from '../../../../kcp/index.ts'
import { exportAuthorizer } from '../authorizer.ts'
import type { Exports } from '../exports.ts'

const params = { provider: 'provider', name: 'widgets' }

export const controller = user('controller')

export const apiExport = (spec: APIExport['spec'], more: object = {}): APIExport =>
  ({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: { name: 'widgets' },
    spec,
    status: { identityHash: 'own' },
    ...more,
  }) as APIExport

export const claim = (resource: string, verbs: readonly string[], more: object = {}) => ({
  group: '',
  resource,
  verbs,
  ...more,
})

export const accepted = (resource: string, verbs: readonly string[], more: object = {}) => ({
  ...claim(resource, verbs),
  state: 'Accepted' as const,
  selector: { matchAll: true },
  ...more,
})

export const bindingTo = (
  claims: readonly object[],
  bound = [{ group: 'example.com', resource: 'widgets' }],
): APIBinding =>
  ({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name: 'widgets' },
    spec: { reference: { export: { path: 'provider', name: 'widgets' } }, permissionClaims: claims },
    status: { apiExportClusterName: 'provider', boundResources: bound },
  }) as unknown as APIBinding

const claims = [claim('configmaps', ['*']), claim('secrets', ['get', 'list']), claim('events', ['*'])]

export const object = apiExport({ permissionClaims: claims })

export interface World {
  readonly object?: APIExport | undefined
  /** By logical cluster. */
  readonly bindings?: Readonly<Record<string, APIBinding>>
  /** By identity, with its logical cluster. */
  readonly others?: Readonly<Record<string, readonly (readonly [string, APIExport])[]>>
  readonly bound?: Readonly<Record<string, readonly BoundExport[]>>
}

export function viewOver({ object, bindings = {}, others = {}, bound = {} }: World) {
  const phases = { consumer: 'Ready', provider: 'Ready', third: 'Ready' }
  const fixture = createFixture({ phases, exports: bound })
  fixture.put('provider', clusterBinding('cluster-admin', userNamed('controller')))
  const exports = {
    find: () => object,
    bindingIn: (cluster: string) => bindings[cluster],
    byIdentity: (hash: string) => (others[hash] ?? []).map(([cluster, other]) => itemOf(other, cluster)),
  } as unknown as Exports
  const host = { backend: { authorizer: fixture.authorizer } } as unknown as Host
  const { authorize, explain } = exportAuthorizer(host, exports)
  const asked = (what: string, who: UserInfo, cluster: string) => {
    const { verb, resource, path = '' } = action(what)
    const info =
      resource === undefined
        ? { isResource: false, verb, path }
        : { isResource: true, verb, path, ...resource }
    const { signal } = new AbortController()
    return { workspace: 'apiexport', params, cluster, info, user: who, hops: 0, signal } as never
  }
  const ask = (what: string, who: UserInfo = controller, cluster = 'consumer'): Promise<Decision> =>
    authorize(asked(what, who, cluster))
  const why = (what: string, who: UserInfo = controller, cluster = 'consumer'): Promise<Decision> =>
    explain(asked(what, who, cluster))
  return { fixture, ask, why }
}

const lastOf = ({ trace }: Decision): string => trace?.at(-1)?.reason ?? ''

export async function expect(
  asked: Promise<Decision>,
  effect: Decision['effect'],
  why?: string,
): Promise<void> {
  const decision = await asked
  assert.equal(decision.effect, effect, JSON.stringify(decision.trace))
  assert.equal(decision.reason, effect === 'allow' ? 'access granted' : 'access denied')
  if (why !== undefined) assert.equal(lastOf(decision), why)
}
