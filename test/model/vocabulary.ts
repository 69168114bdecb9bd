import { everyVerb } from '../support/widgets.ts'

export const groups = ['', 'example.com', 'apis.kcp.io', '*']

export const resources = [
  'configmaps',
  'secrets',
  'widgets',
  'gadgets',
  'widgets/status',
  '*/status',
  'apiexports/content',
  'apibindings',
  '*',
]

export const verbs = [...everyVerb, 'bind', '*', '*']

export const paths = ['/', '/', '/metrics', '/healthz', '/apis', '/apis/*', '/api*', '*']
export const prefix = 'apis.kcp.io:binding:'
export const people = ['ann', 'bob', 'cat']
export const teams = ['dev', 'ops', 'qa']

export const specialGroups = [
  'system:kcp:admin',
  'system:kcp:logical-cluster-admin',
  'system:kcp:external-logical-cluster-admin',
  'system:kcp:tenancy:workspace-bootstrapper',
  'system:kcp:initializer:root:universal',
]
