import assert from 'node:assert/strict'
import { action } from '../testing/fixture.ts'
import { type PolicyRule, ruleAllows } from './policyrule.ts'

const pods: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }

/** A rule, the actions that it allows, and actions that it does not allow. */
const table: readonly [
  name: string,
  rule: PolicyRule,
  allowed: readonly string[],
  refused: readonly string[],
][] = [
  [
    'exact verbs, groups and resources',
    pods,
    ['get core/pods', 'list core/pods ns/', 'get core/pods ns/a'],
    ['create core/pods', 'get apps/pods', 'get core/pod', 'get core/pods/log', 'GET core/pods', 'get /pods'],
  ],
  [
    'every verb, group and resource',
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    ['get core/pods', 'escalate g.io/x/status ns/a', '* */*'],
    ['get /healthz'],
  ],
  [
    'every resource of a group, subresources included',
    { verbs: ['get'], apiGroups: ['apps'], resources: ['*'] },
    ['get apps/deployments', 'get apps/deployments/scale'],
    ['get core/pods'],
  ],
  [
    'one subresource',
    { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] },
    ['get core/pods/log'],
    ['get core/pods', 'get core/pods/status', 'get core/jobs/log'],
  ],
  [
    'one subresource of every resource',
    { verbs: ['update'], apiGroups: ['*'], resources: ['*/status'] },
    ['update core/pods/status', 'update g.io/widgets/status'],
    ['update core/pods', 'update core/pods/scale', 'update core/status', 'update core/pods/xstatus'],
  ],
  [
    'no other patterns',
    { verbs: ['ge*'], apiGroups: ['*'], resources: ['po*', 'pods/*'] },
    [],
    ['get core/pods', 'get core/pods/log'],
  ],
  [
    'names, and no requests without a name',
    { ...pods, verbs: ['*'], resourceNames: ['a', 'b'] },
    ['get core/pods ns/a', 'list core/pods ns/b', 'delete core/pods b'],
    ['get core/pods ns/c', 'list core/pods', 'create core/pods ns/', 'deletecollection core/pods ns/'],
  ],
  [
    'paths',
    { verbs: ['get'], nonResourceURLs: ['/metrics', '/apis/*'] },
    ['get /metrics', 'get /apis/', 'get /apis/g.io/v1'],
    ['get /metrics/x', 'get /apis', 'post /metrics', 'get core/metrics', 'get /'],
  ],
  ['every path', { verbs: ['*'], nonResourceURLs: ['*'] }, ['access /', 'get /x/y'], ['get core/pods']],
  [
    'a wildcard only at the end of a path',
    { verbs: ['get'], nonResourceURLs: ['/a/*/b'] },
    ['get /a/*/b'],
    ['get /a/x/b'],
  ],
  ['nothing', { verbs: [] }, [], ['get core/pods', 'get /']],
]

describe('ruleAllows', () => {
  for (const [name, rule, allowed, refused] of table)
    it(`matches ${name}`, () => {
      for (const text of allowed) assert.ok(ruleAllows(rule, action(text)), `should allow ${text}`)
      for (const text of refused) assert.ok(!ruleAllows(rule, action(text)), `should refuse ${text}`)
    })
})
