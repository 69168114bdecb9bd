import type { Informer, ResourceRef } from '../../../framework/index.ts'
import type { APIExport } from './types.ts'

/** Where workspace types are stored: under the identity of root's tenancy export. Throws an `Error` before there is one. */
export function workspaceTypes(exports: Informer): ResourceRef {
  const identity = identityIn(exports)
  if (identity === undefined) throw new Error('root does not export tenancy.kcp.io')
  return { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspacetypes', identity }
}

/** Resolves when there is one: the first shard may be younger than whoever waits. */
export const tenancyExported = (exports: Informer): Promise<void> =>
  new Promise(resolve => {
    const look = (): void => {
      if (identityIn(exports) !== undefined) resolve()
    }
    exports.onEvent(look)
  })

function identityIn(exports: Informer): string | undefined {
  const tenancy = exports.get('root', '', 'tenancy.kcp.io')?.object as APIExport | undefined
  return tenancy?.status?.identityHash || undefined
}
