import assert from 'node:assert/strict'
import { kcpKeyOf, parseKcpKey } from './kcpkeys.ts'

const identity = 'e4957f1bc961f757fda273743ccc3dc8aaccb5135851251e362b890703d29d5b'

describe('keys of kcp', () => {
  const examples: Readonly<Record<string, readonly string[]>> = {
    'core/configmaps/moving/default/a': ['', 'configmaps', '-', 'default', 'a'],
    'core/namespaces/moving/default': ['', 'namespaces', '-', '', 'default'],
    'core/configmaps/moving/moving/a': ['', 'configmaps', '-', 'moving', 'a'],
    'rbac.authorization.k8s.io/clusterroles/moving/system:a': [
      'rbac.authorization.k8s.io',
      ...['clusterroles', '-', '', 'system:a'],
    ],
    'core.kcp.io/logicalclusters/customresources/moving/cluster': [
      'core.kcp.io',
      ...['logicalclusters', 'customresources', '', 'cluster'],
    ],
    'example.com/gadgets/customresources/moving/default/g': [
      'example.com',
      ...['gadgets', 'customresources', 'default', 'g'],
    ],
    [`example.com/wholes/${identity}/moving/w`]: ['example.com', 'wholes', identity, '', 'w'],
    [`example.com/gadgets/${identity}/moving/default/g`]: [
      'example.com',
      'gadgets',
      identity,
      'default',
      'g',
    ],
  }

  it('name objects of built-in, custom and bound kinds', () => {
    for (const [text, expected] of Object.entries(examples)) {
      const found = parseKcpKey(text, 'moving')
      assert.ok(found, text)
      const { resource, key } = found
      const parts = [resource.group, resource.resource, resource.segment, key.namespace, key.name]
      assert.deepEqual(parts, expected, text)
      assert.equal(kcpKeyOf(found), text)
    }
  })

  it('of other logical clusters are none, also with the name of the logical cluster in another place', () => {
    const foreign = [
      'core/configmaps/other/default/a',
      'core/configmaps/other/moving/a',
      'core/namespaces/other/moving',
      `example.com/wholes/${identity}/other/w`,
      `example.com/wholes/${identity}/other/moving/w`,
      'example.com/wholes/customresources/other/moving',
      'example.com/wholes/customresources/other/moving/w',
      'core/configmaps/movingtoo/default/a',
    ]
    for (const text of foreign) assert.equal(parseKcpKey(text, 'moving'), undefined, text)
  })

  it('that are malformed are none', () => {
    const malformed = [
      ...[
        '',
        '/',
        'moving',
        'core/configmaps/moving',
        'core/configmaps/moving/',
        'core/configmaps/moving//a',
      ],
      ...['/configmaps/moving/default/a', 'core//moving/default/a', 'core/configmaps/moving/a/b/c'],
      ...['core/configmaps/customresources/moving', `example.com/gadgets/${identity}/moving/a/b/c`],
      ...['example.com/gadgets/ABC/moving/default/a', '../core/configmaps/moving/default/a'],
    ]
    for (const text of malformed) assert.equal(parseKcpKey(text, 'moving'), undefined, text)
  })
})
