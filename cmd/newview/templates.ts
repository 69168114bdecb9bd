import { apiVersion } from '../../framework/index.ts'

/** The files of a new view, by name. */
export const filesOf = (name: string, version: string): Readonly<Record<string, string>> => ({
  [`${name}.ts`]: viewOf(name),
  [`${name}.test.ts`]: testOf(name),
  'package.json': `${JSON.stringify(packageOf(name, version), undefined, 2)}\n`,
})

const packageOf = (name: string, version: string): object => ({
  name,
  version: '0.0.0',
  private: true,
  type: 'module',
  exports: `./${name}.ts`,
  scripts: {
    test: `node --import jiti/register --test ${name}.test.ts`,
    start: `oriel start --view ./${name}.ts --watch`,
  },
  devDependencies: { jiti: '^2.7.0', oriel: `^${version}` },
})

const viewOf = (name: string): string => `import type { ViewPlugin } from 'oriel/plugin'

/** The version of the API of plugins for which this was written. */
export const apiVersion = ${apiVersion}

/** The config maps with the label \`${name}=<group>\`, for the members of the group, read-only. */
const plugin: ViewPlugin = f =>
  f.defineVirtualWorkspace('${name}', '/services/${name}/:group', ({ backend }) => {
    const configMaps = backend.apis('*')?.find('', 'v1', 'configmaps')
    if (configMaps === undefined) throw new Error('there are no config maps')
    const storage = f.viewOf(configMaps.storage, ({ params }) => ({
      narrow: query => ({
        ...query,
        labels: f.andLabels(query.labels, f.labelEquals('${name}', params.group ?? '')),
      }),
    }))
    const apis = f.apiSetOf([{ ...configMaps, storage, verbs: ['get', 'list', 'watch'] }])
    return {
      apis: () => apis,
      authorize: async ({ params, user }) =>
        user.groups.includes(params.group ?? '') ? f.allow('a member') : f.deny('not a member'),
      // Members have no permissions in the logical clusters: the view reads for them.
      actAs: () => f.loopback,
    }
  })

export default plugin
`

const testOf = (name: string): string => `import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Installation, startInstallation, viewContract } from 'oriel/testing'
import plugin from './${name}.ts'

const path = '/services/${name}/ops/clusters/one/api/v1/namespaces/default/configmaps'
const configMap = (name: string, group: string, word: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { '${name}': group } },
  data: { word },
})

describe('the view ${name}', () => {
  let oriel: Installation
  before(async () => {
    oriel = await startInstallation({ plugins: [plugin] })
    await oriel.cluster('one', configMap('shown', 'ops', 'hello'), configMap('hidden', 'other', 'sesame'))
  })
  after(() => oriel.close())

  for (const { name, run } of viewContract({
    user: () => oriel.as({ name: 'ada', groups: ['ops'] }),
    path,
    shown: 'shown',
    hidden: 'hidden',
    secret: 'sesame',
    selectors: ['labelSelector=${name}%3Dother'],
  }))
    it(name, run)

  it('refuses users who are not members', async () => {
    assert.equal((await oriel.as('bob').request(path)).status, 403)
  })
})
`
