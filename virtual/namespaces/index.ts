import { apiSetOf, defineVirtualWorkspace, loopback } from '../../framework/index.ts'
import { resources } from '../../kcp/index.ts'
import { visibleStorage } from '../shared/access/storage.ts'
import { mayRead } from './authorizer.ts'
import { namespaceVisibility } from './visibility.ts'

/** The namespaces that the user can get, of all logical clusters. See README.md beside this file. */
export const namespaces = defineVirtualWorkspace('namespaces', '/services/namespaces', host => {
  const visibility = namespaceVisibility(host)
  const { group, version, resource: plural } = resources.namespaces
  const stored = host.backend.apis('*')?.find(group, version, plural)
  const apis = apiSetOf(
    stored === undefined
      ? []
      : [
          {
            ...stored,
            verbs: ['get', 'list', 'watch'],
            subresources: [],
            storage: visibleStorage(stored, visibility),
          },
        ],
  )
  return { apis: () => apis, authorize: ctx => mayRead(visibility.access, ctx), actAs: () => loopback }
})
