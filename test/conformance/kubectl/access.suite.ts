import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply } from '../../support/tenants.ts'
import { having, type Place, texts } from './scene.ts'

const rbac = 'rbac.authorization.k8s.io'

/** kubectl's commands about permissions and tokens (rules.md 10.26 to 10.30). Views serve neither reviews nor tokens. */
export function rightsCases({ kubectl, name }: Place): void {
  it('auth whoami, can-i and can-i --list', async () => {
    assert.match(await kubectl(['auth', 'whoami']), /^Username +\S+$/m)
    const list = await kubectl(['auth', 'can-i', '--list'])
    assert.match(list, /^Resources +Non-Resource URLs +Resource Names +Verbs$/m)
    assert.match(list, /^\*\.\* +\[\] +\[\] +\[\*\]$/m)
    assert.equal(await kubectl(['auth', 'can-i', 'delete', 'widgets']), 'yes\n')
    const odd = await kubectl.try(['auth', 'can-i', 'get', 'nothings'])
    assert.match(odd.stderr, /^Warning: the server doesn't have a resource type 'nothings'/m)
  })

  it('auth reconcile', async () => {
    const role = (verbs: readonly string[]): KubeObject => ({
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: name('reader'), namespace: 'default' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
    })
    const reconcile = (verbs: readonly string[], ...args: readonly string[]) =>
      kubectl(['auth', 'reconcile', ...args, '-f', '-'], texts(role(verbs)))
    assert.match(await reconcile(['get']), new RegExp(`^role.${rbac}/${name('reader')} reconciled$`, 'm'))
    await reconcile(['list'])
    const verbs = async () =>
      (await kubectl.json<{ rules: { verbs: string[] }[] }>(['get', 'role', name('reader')])).rules
        .flatMap(rule => rule.verbs)
        .sort()
    assert.deepEqual(await verbs(), ['get', 'list'])
    await reconcile(['list'], '--remove-extra-permissions')
    assert.deepEqual(await verbs(), ['list'])
  })

  it('create token', async () => {
    const robot = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: name('robot'), namespace: 'default' },
    }
    await apply(kubectl, robot)
    const token = await kubectl(['create', 'token', name('robot'), '--duration=20m'])
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    assert.equal(claims.sub, `system:serviceaccount:default:${name('robot')}`)
    assert.equal(claims.exp - claims.iat, 1200)
    const short = await kubectl.try(['create', 'token', name('robot'), '--duration=1m'])
    assert.match(short.stderr, /may not specify a duration less than 10 minutes/)
    const nobody = await kubectl.try(['create', 'token', 'nobody'])
    assert.match(nobody.stderr, /serviceaccounts "nobody" not found/)
  })
}

/** The commands of kubectl with the address of a server. */
export function addressCases({ kubectl, name }: Place): void {
  it('version, cluster-info and top', async () => {
    assert.match(await kubectl(['version']), /^Server Version: v1\.\d+/m)
    const info = await kubectl.try(['cluster-info'])
    assert.match(info.stdout + info.stderr, /cluster-info dump/)
    const top = await kubectl.try(['top', 'node'])
    assert.match(top.stderr, /^error: Metrics API not available$/m)
  })

  it('proxy', async () => {
    let groups = ''
    await kubectl.until(['proxy', '--port=0', '--append-server-path'], async printed => {
      const [, at] = /Starting to serve on (\S+)/.exec(printed) ?? []
      if (at !== undefined) groups = await (await fetch(`http://${at}/apis`)).text()
      return at !== undefined
    })
    assert.match(groups, /kubectl\.example\.com/)
  })

  it('config', async () => {
    const directory = join(await temporaryDirectory('kubeconfig'), name('home'))
    await mkdir(directory)
    const file = join(directory, 'config')
    await writeFile(file, await kubectl(['config', 'view', '--raw', '--minify', '--flatten']))
    await having('KUBECONFIG', file, async () => {
      assert.match(await kubectl(['config', 'current-context']), /\S/)
    })
  })
}
