import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parseYaml } from '../../framework/wire/yaml.ts'
import { root } from '../../test/support/source.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { StartError } from '../files/starterror.ts'
import { listedViews } from './viewlist.ts'

describe('the file of --views', () => {
  let folder: string
  let isValid: (value: unknown) => boolean
  before(async () => {
    folder = await temporaryDirectory('views')
    const schema = JSON.parse(await readFile(join(root, 'docs/views.schema.json'), 'utf8'))
    isValid = new Ajv2020({ strict: true }).compile(schema)
  })
  const written = async (text: string): Promise<string> => {
    const file = join(folder, 'views.yaml')
    await writeFile(file, text)
    return file
  }

  it('lists views with options, before those of --view', async () => {
    const text = `
views:
- view: ./team.ts
  options: { label: team, most: 3 }
- view: some-package
  isolate: true
- view: other
  isolate: true
  memory: 2Gi
`
    assert.ok(isValid(parseYaml(text).value))
    assert.deepEqual(await listedViews({ views: await written(text), view: ['./last.js'] }), [
      { view: join(folder, 'team.ts'), options: { label: 'team', most: 3 } },
      { view: 'some-package', options: {}, isolated: { memory: 512 } },
      { view: 'other', options: {}, isolated: { memory: 2048 } },
      { view: './last.js', options: {} },
    ])
  })

  it('may be absent', async () => {
    assert.deepEqual(await listedViews({}), [])
    await assert.rejects(listedViews({ views: join(folder, 'none.yaml') }), StartError)
  })

  const mistakes: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ['a list', '- view: ./a.ts', /views\.yaml:1: the file must be an object\.$/],
    ['nothing', '', /views\.yaml:1: the file must be an object\.$/],
    ['an unknown member', 'views: []\nview: []', /views\.yaml:2: view is unknown: the members are views\.$/],
    ['no list', 'views: {}', /views\.yaml:1: views must be a list\.$/],
    ['no views', 'other: 1\n', /other is unknown/],
    ['a name', 'views:\n- ./a.ts', /views\.yaml:2: views\[0\] must be an object\.$/],
    [
      'no view',
      'views:\n- view: a\n- options: {}',
      /views\.yaml:3: views\[1\]\.view must be a file, such as \.\/team\.ts,/,
    ],
    ['an empty name', 'views:\n- view: ""', /views\[0\]\.view must be a file/],
    [
      'options that are a list',
      'views:\n- view: a\n  options: []',
      /views\.yaml:3: views\[0\]\.options must be an object\.$/,
    ],
    [
      'an unknown option',
      'views:\n- view: a\n  isolated: true',
      /views\.yaml:3: views\[0\]\.isolated is unknown: the members are view, options, isolate, memory\.$/,
    ],
    [
      'isolation that is a text',
      'views:\n- view: a\n  isolate: "yes"',
      /views\.yaml:3: views\[0\]\.isolate must be true or false\.$/,
    ],
    [
      'memory without isolation',
      'views:\n- view: a\n  memory: 1Gi',
      /views\.yaml:3: views\[0\]\.memory is the limit of the process of a view with isolate: true\.$/,
    ],
    [
      'memory without a unit',
      'views:\n- view: a\n  isolate: true\n  memory: 512',
      /views\.yaml:4: views\[0\]\.memory must be a quantity such as 512Mi or 2Gi, of at least 128Mi\.$/,
    ],
    [
      'too little memory',
      'views:\n- view: a\n  isolate: true\n  memory: 64Mi',
      /views\.yaml:4: views\[0\]\.memory must be a quantity such as 512Mi or 2Gi, of at least 128Mi\.$/,
    ],
  ]
  for (const [what, text, message] of mistakes)
    it(`is refused with its line: ${what}`, async () => {
      assert.ok(!isValid(parseYaml(text).value), 'also by the published schema')
      await assert.rejects(listedViews({ views: await written(text) }), { name: 'StartError', message })
    })

  it('is refused if it is not YAML', async () => {
    const file = await written('views: [')
    await assert.rejects(listedViews({ views: file }), /^StartError: --views .*views\.yaml is not YAML: /)
  })
})
