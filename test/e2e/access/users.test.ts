import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  compiled,
  discard,
  eventually,
  type Oriel,
  type Outcome,
  run,
  startOriel,
} from '../../support/oriel.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

describe('oriel user', function () {
  this.timeout(60_000)
  let server: Oriel
  let directory: string
  const oriel = (...args: readonly string[]): Promise<Outcome> =>
    run(process.execPath, [compiled, 'user', ...args, '--data-directory', server.directory], {
      cwd: directory,
    })
  const whoAmI = (kubeconfig: string): Promise<Outcome> =>
    run(process.env.KUBECTL ?? 'kubectl', [
      ...['--kubeconfig', join(directory, kubeconfig), 'auth', 'whoami'],
      ...['-o', 'jsonpath={.status.userInfo.username} {.status.userInfo.groups}'],
    ])
  const refused = async (message: string, ...args: readonly string[]) => {
    const before = await readdir(directory)
    const { code, stdout, stderr } = await oriel(...args)
    assert.deepEqual([code, stdout, stderr], [1, '', `oriel: ${message}\n`])
    assert.deepEqual(await readdir(directory), before)
  }

  before(async () => {
    directory = await temporaryDirectory('users')
    server = await startOriel()
  })
  after(() => discard(server))

  it('adds a user with a private kubeconfig, which a running server accepts', async () => {
    const { code, stdout, stderr } = await oriel('add', 'ada', '--group', 'team:ops', '--group', 'team:dev')
    assert.equal(code, 0, stderr)
    assert.equal(stdout, 'Added user ada with the kubeconfig ada.kubeconfig.\n')
    assert.equal(statSync(join(directory, 'ada.kubeconfig')).mode & 0o777, 0o600)
    const told = await whoAmI('ada.kubeconfig')
    assert.equal(told.stdout, 'ada ["team:ops","team:dev","system:authenticated"]')
  })

  it('stores no token', async () => {
    const token = /token: (\S+)/.exec(readFileSync(join(directory, 'ada.kubeconfig'), 'utf8'))?.[1] ?? ''
    assert.ok(token.length > 40)
    const [file = ''] = await readdir(join(server.directory, 'users'))
    const stored = join(server.directory, 'users', file)
    assert.ok(!readFileSync(stored, 'utf8').includes(token))
    assert.equal(statSync(stored).mode & 0o777, 0o600)
  })

  it('lists users, also those that have expired, whose tokens are rejected', async () => {
    assert.equal((await oriel('add', 'a/../b', '--expires', '1ms', '--output', 'late.kubeconfig')).code, 0)
    assert.deepEqual(await readdir(join(server.directory, 'users')), ['a%2F..%2Fb.json', 'ada.json'])
    const { stdout } = await oriel('list')
    assert.match(
      stdout,
      /^NAME {5}GROUPS {14}EXPIRES\na\/\.\.\/b {3}<none> {14}\d{4}-\S+Z\nada {6}team:ops,team:dev {3}never\n$/,
    )
    const told = await eventually(
      () => whoAmI('late.kubeconfig'),
      ({ stderr }) => stderr !== '',
    )
    assert.equal(told.code, 1)
    assert.match(told.stderr, /Unauthorized|must be logged in/i)
  })

  it('removes a user, whom the running server then rejects, and a restarted one too', async () => {
    assert.equal((await whoAmI('ada.kubeconfig')).code, 0)
    const { code, stdout } = await oriel('remove', 'ada')
    assert.deepEqual(
      [code, stdout],
      [0, 'Removed user ada. The server rejects its token within two seconds.\n'],
    )
    await eventually(
      () => whoAmI('ada.kubeconfig'),
      outcome => outcome.code !== 0,
    )
    await server.restart()
    assert.notEqual((await whoAmI('ada.kubeconfig')).code, 0)
  })

  it('refuses mistakes in one sentence', async () => {
    assert.equal((await oriel('add', 'bob')).code, 0)
    await refused(
      'The user bob exists: remove it first with oriel user remove bob.',
      ...['add', 'bob', '--output', 'other.kubeconfig'],
    )
    await refused('bob.kubeconfig exists: give --output the name of a new file.', 'add', 'bob')
    await refused('There is no user eve: oriel user list prints the users.', 'remove', 'eve')
    for (const name of ['system:admin', 'system:masters'])
      await refused(
        `${name} is reserved: choose a name that does not start with "system:".`,
        ...['add', name === 'system:admin' ? name : 'eve', '--group', name],
      )
    await refused('The name of the user is empty: give a name.', 'add', ' ')
  })

  it('adds users to a server that does not run', async () => {
    await server.stop()
    const { code, stdout } = await oriel('add', 'carol')
    assert.deepEqual(
      [code, stdout],
      [0, 'Added user carol with the kubeconfig carol.kubeconfig. The server accepts it when it runs.\n'],
    )
    await server.restart()
    assert.match((await whoAmI('carol.kubeconfig')).stdout, /^carol /)
  })

  it('refuses a directory of no server', async () => {
    for (const place of [directory, join(directory, 'none')])
      for (const args of [['add', 'x'], ['list'], ['remove', 'x']]) {
        const line = [compiled, 'user', ...args, '--data-directory', place]
        const { code, stdout, stderr } = await run(process.execPath, line)
        assert.deepEqual([code, stdout], [1, ''])
        assert.match(
          stderr,
          /^oriel: .* is not the data directory of a server: run oriel start first, .*\.\n$/,
        )
      }
  })
})
