import { post, put } from '../../../conformance/fixture.ts'
import { type BadRequests, configMap, configMaps } from './request.ts'

export const paths: BadRequests = {
  paths: {
    'an unknown resource': { path: '/api/v1/namespaces/default/nothings', code: 404 },
    'an unknown version': { path: '/apis/example.com/v7/widgets', code: 404, better: 'text' },
    'an unknown subresource': { path: `${configMaps}/a/nothing`, code: 404 },
    'a cluster-scoped kind in a namespace': {
      path: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles',
      code: 404,
    },
    'a name of dots': { path: `${configMaps}/..`, code: 400, better: 'a redirect' },
    'a name of encoded dots': { path: `${configMaps}/%2e%2e`, code: 400, better: 'a redirect' },
    'an encoded slash': { path: `${configMaps}/a%2Fb`, code: 400, better: 'two segments' },
    'an encoded percent': { path: `${configMaps}/a%25b`, code: 400, better: 'a 404' },
    'a broken escape': { path: `${configMaps}/%zz`, code: 400, better: 'text' },
    'a null byte': { path: `${configMaps}/%00`, code: 400, better: 'a 404' },
    'no name to update': {
      path: configMaps,
      sent: put(configMap('a')),
      code: 405,
      reason: 'MethodNotAllowed',
    },
    'a creation at a name': {
      path: `${configMaps}/a`,
      sent: post(configMap('a')),
      code: 405,
      reason: 'MethodNotAllowed',
    },
    'an unknown method': { path: configMaps, sent: { method: 'OPTIONS' }, code: 405 },
    'another unknown method': { path: configMaps, sent: { method: 'PROPFIND' }, code: 405 },
  },
}
