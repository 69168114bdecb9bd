import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from '../test/support/temporary.ts'
import { defaultDropGroups, groupFilter } from './groups.ts'
import { matcherOf, parseMappings, readTls } from './mapping.ts'

const entry = (path: string, more = '') =>
  `- path: ${path}\n  backend: https://b:6444/\n  backend_server_ca: ca\n  proxy_client_cert: c\n  proxy_client_key: k\n${more}`

describe('mapping file', () => {
  it("has kcp's format", () => {
    const [first] = parseMappings(entry('/services/x/', '  user_header: X-User\n  unknown: 1\n'))
    assert.deepEqual(first, {
      path: '/services/x/',
      backend: 'https://b:6444',
      ca: 'ca',
      cert: 'c',
      key: 'k',
      names: { user: 'X-User', uid: 'X-Remote-Uid', group: 'X-Remote-Group', extraPrefix: 'X-Remote-Extra-' },
    })
  })
  it('prefers the longest path, whatever the order', () => {
    const match = matcherOf(
      parseMappings(
        [
          entry('/'),
          entry('/services'),
          entry('/clusters/'),
          entry('/services/x'),
          entry('/e2e/clusters/{cluster}'),
        ].join(''),
      ),
    )
    const found = (path: string) => [match(path)?.mapping.path, match(path)?.cluster]
    assert.deepEqual(found('/services/x/y'), ['/services/x', undefined])
    assert.deepEqual(found('/services/xy'), ['/services', undefined])
    assert.deepEqual(found('/services'), ['/services', undefined])
    assert.deepEqual(found('/clusters/root:a/api'), ['/clusters/', 'root:a'])
    assert.deepEqual(found('/e2e/clusters/root/x'), ['/e2e/clusters/{cluster}', 'root'])
    assert.deepEqual(found('/healthz'), ['/', undefined])
  })
  for (const [what, text, problem] of [
    ['the same path twice', entry('/a') + entry('/a/'), 'line 6: field "path" repeats "/a/"'],
    [
      'an invalid header name',
      entry('/a', '  group_header: "a b"\n'),
      'line 6: field "group_header" is not the name of a header',
    ],
    [
      'a wrong type',
      entry('/a').replace('ca: ca', 'ca: [1]'),
      'line 3: field "backend_server_ca" is not a string',
    ],
    ['an entry of another type', '- 1\n', 'line 1: the mapping is not an object'],
    [
      'credentials in a URL',
      entry('/a').replace('//b', '//u:p@b'),
      'line 2: field "backend" is "https://u:p@b:6444/", which is not an https URL',
    ],
  ] as const)
    it(`says where it has ${what}`, () => assert.throws(() => parseMappings(text), { message: problem }))
})

describe('the files of a mapping', () => {
  it('are refused when the authorities of the backend have no certificate', async () => {
    const folder = await temporaryDirectory('mapping')
    const file = join(folder, 'notes.txt')
    await writeFile(file, 'no certificate')
    await assert.rejects(readTls({ path: '/a', ca: file, cert: file, key: file }), {
      message: `failed to create path mapping for path "/a": ${file} contains no valid certificate`,
    })
  })
})

describe('groups of users at the edge', () => {
  it('lose the privileged ones by default', () => {
    const filter = groupFilter([], defaultDropGroups)
    assert.deepEqual(filter(['b', 'system:masters', 'a', 'a', 'system:kcp:initializer:root:x']), ['a', 'b'])
  })
  it('are passed on by name or prefix, unless dropped', () =>
    assert.deepEqual(groupFilter(['dev*', 'ops'], ['dev-x'])(['ops', 'dev-x', 'dev-y', 'other']), [
      'dev-y',
      'ops',
    ]))
})
