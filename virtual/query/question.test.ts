import assert from 'node:assert/strict'
import type { ClusterIndex } from '../shared/facts/clusterindex.ts'
import { QueryQuestion } from './question.ts'

describe('the expressions of a query', () => {
  const uses = (where: string, orderBy = ''): boolean =>
    new QueryQuestion({ options: { where, orderBy } } as never, {} as ClusterIndex, {
      name: 'ada',
      groups: [],
    }).usesWorkspaces

  for (const text of [
    "object.spec.color == 'red'",
    "cluster.path.startsWith('root:')",
    "cluster . name == 'x'",
    'has(object.metadata.labels)',
  ])
    it(`do not need the Workspace for ${text}`, () =>
      assert.deepEqual([uses(text), uses('', text)], [false, false]))

  for (const text of [
    "cluster.labels['tier'] == 'gold'",
    'has(cluster.annotations)',
    'cluster.?labels.hasValue()',
    "[cluster].exists(c, 'tier' in c.labels)",
    "cluster.path == '' || cluster['labels'] == {}",
    'cluster.`labels` == {}',
    'cluster. // the\nlabels == {}',
  ])
    it(`need the Workspace for ${text}`, () => assert.deepEqual([uses(text), uses('', text)], [true, true]))
})
