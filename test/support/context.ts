import type { RequestContext } from '../../framework/contract/context.ts'
import { silent } from '../../framework/contract/log.ts'
import type { ClusterScope } from '../../framework/meta/object.ts'
import type { ResourceRequest } from '../../framework/request/requestinfo.ts'
import { loopback, type UserInfo } from '../../framework/request/user.ts'

/** A request context as the server would create it; `warnings` are collected. */
export interface TestContext extends RequestContext {
  readonly warnings: string[]
}

export interface TestRequest {
  readonly cluster?: ClusterScope
  readonly info?: Partial<ResourceRequest>
  readonly signal?: AbortSignal
  readonly user?: UserInfo
}

/** A context of the server's own user, for `widgets` in `example.com/v1` by default. */
export function testContext({
  cluster = 'one',
  info,
  signal,
  user = loopback,
}: TestRequest = {}): TestContext {
  const warnings: string[] = []
  return {
    workspace: '',
    params: {},
    cluster,
    info: {
      isResource: true,
      verb: 'get',
      group: 'example.com',
      version: 'v1',
      resource: 'widgets',
      subresource: '',
      namespace: '',
      name: '',
      path: '/',
      ...info,
    },
    user,
    actAs: user,
    hops: 0,
    signal: signal ?? new AbortController().signal,
    record: { warn: text => void warnings.push(text), annotate: () => undefined, log: silent },
    warnings,
  }
}
