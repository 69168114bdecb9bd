import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { issueAuthority, type KeyPair } from '../../../cmd/certificates/certificates.ts'
import { issueClient } from '../../support/clientcertificates.ts'
import { compiled, discard, eventually, type Oriel, readText, run, startOriel } from '../../support/oriel.ts'
import { bound, masters, type People, startWithPeople } from '../../support/people.ts'
import { type FrontProxy, startFrontProxy, writeProxyAuthority } from '../../support/servers/frontproxy.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { ask } from '../../support/wire.ts'
import { go, openConsole, patience, signIn, startBrowser } from './browser.ts'

const localhost = (url: string): string => url.replace('127.0.0.1', 'localhost')

describe('signing in to the console in Chromium', function () {
  this.timeout(240_000)
  let browser: Browser
  let people: People
  let certificate: KeyPair
  let folder: string
  before(async function () {
    browser = await startBrowser(this)
    folder = await temporaryDirectory('console')
    const authority = issueAuthority()
    certificate = await issueClient(authority, { subject: 'CN=ada, O=ops' })
    await writeFile(join(folder, 'client-ca.crt'), authority.certificate)
    people = await startWithPeople(['--client-ca-file', join(folder, 'client-ca.crt')])
    const rbac = '/clusters/root/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
    assert.equal((await people.post(masters, rbac, bound('cluster-admin', 'ada'))).status, 201)
  })
  after(async () => {
    await browser?.close()
    if (people !== undefined) await discard(people.oriel)
  })

  it('uses the certificate of the browser, and tells when there is none', async () => {
    const url = localhost(people.oriel.url)
    const { page, context } = await openConsole({ browser, url })
    await page.getByRole('button', { name: 'Use the certificate of the browser' }).click()
    await page.getByText('The browser sent no certificate that the server accepts.').waitFor()
    await context.close()
    const [cert, key] = [Buffer.from(certificate.certificate), Buffer.from(certificate.key)]
    const own = await browser.newContext({
      ignoreHTTPSErrors: true,
      clientCertificates: [{ origin: url, cert, key }],
    })
    const signedIn = await own.newPage()
    signedIn.setDefaultTimeout(patience)
    await signedIn.goto(`${url}/console`)
    await signedIn.getByRole('button', { name: 'Use the certificate of the browser' }).click()
    await signedIn.getByRole('treeitem').first().waitFor()
    await signedIn.getByText('ada', { exact: true }).first().waitFor()
    await own.close()
  })
})

describe('a session of the console in Chromium', function () {
  this.timeout(240_000)
  let browser: Browser
  let people: People
  before(async function () {
    browser = await startBrowser(this)
    people = await startWithPeople()
    const rbac = '/clusters/root/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
    assert.equal((await people.post(masters, rbac, bound('cluster-admin', 'grace'))).status, 201)
  })
  after(async () => {
    await browser?.close()
    if (people !== undefined) await discard(people.oriel)
  })

  it('ends when its token expires, also on a page that only watches', async () => {
    const { directory, url } = people.oriel
    const file = join(directory, 'grace.kubeconfig')
    const args = ['user', 'add', 'grace', '--expires', '20s', '--output', file, '--data-directory', directory]
    const { code, stderr } = await run(process.execPath, [compiled, ...args])
    assert.equal(code, 0, stderr)
    const token = /token: "?([^"\s]+)/.exec(await readText(file))?.[1] ?? ''
    await eventually(
      () => people.as({ token })('/version'),
      ({ status }) => status === 200,
    )
    const { page, context } = await openConsole({ browser, url: localhost(url) })
    await signIn(page, token)
    await page.getByRole('treeitem').first().waitFor()
    await go(page, '#/objects/root?resource=configmaps')
    await page.locator('tr[data-key$="/default/kube-root-ca.crt"]').waitFor()
    await page.getByText('The session has ended').waitFor()
    assert.equal(await page.locator('tr[data-key]').count(), 0)
    await context.close()
  })
})

describe('the console at a front proxy', function () {
  this.timeout(240_000)
  let folder: string
  let shard: Oriel
  let proxy: FrontProxy
  before(async () => {
    folder = await temporaryDirectory('console')
    shard = await startOriel({ args: ['--store', 'memory:', ...(await writeProxyAuthority(folder))] })
    proxy = await startFrontProxy({ folder, name: 'proxy', shards: [shard] })
  })
  after(async () => {
    await proxy?.stop()
    if (shard !== undefined) await discard(shard)
  })

  it('shows the workspaces and objects of its shards, as they change', async function () {
    const browser = await startBrowser(this)
    try {
      const { page, faults } = await openConsole({ browser, url: localhost(proxy.url) })
      await signIn(page, 'admin-token')
      await page.getByRole('treeitem').first().waitFor()
      await go(page, '#/objects/root?resource=namespaces')
      await page.locator('tr[data-key$="/default"]').waitFor()
      await proxy.kubectl(['-s', `${proxy.url}/clusters/root`, 'create', 'namespace', 'later'])
      await page.locator('tr[data-key$="/later"]').waitFor()
      await go(page, '#/views/root')
      await page
        .getByText('This server counts no requests of views.')
        .or(page.getByText('Not permitted'))
        .first()
        .waitFor()
      assert.deepEqual(faults, [])
    } finally {
      await browser.close()
    }
  })

  it('is served without credentials, and no other path is', async () => {
    const ca = await readText(join(folder, 'proxy-data', 'ca.crt'))
    const told = async (url: string, method = 'GET') => (await ask('HTTP/2', url, { ca, method })).status
    assert.equal(await told(`${proxy.url}/console`), 200)
    assert.equal(await told(`${proxy.url}/console`, 'POST'), 401)
    assert.equal(await told(`${proxy.url}/console/main.js`), 200)
    for (const path of ['/console/none.js', '/metrics', '/debug/pprof/profile', '/clusters/root/api'])
      assert.equal(await told(proxy.url + path), 401, path)
  })

  it('gives way to a mapping of its path', async () => {
    const mapping = {
      path: '/console',
      backend: shard.url,
      backend_server_ca: join(folder, 'own-ca.crt'),
      proxy_client_cert: join(folder, 'proxy.crt'),
      proxy_client_key: join(folder, 'proxy.key'),
    }
    const own = await startFrontProxy({ folder, name: 'own', shards: [shard], mappings: [mapping] })
    const ca = await readText(join(folder, 'own-data', 'ca.crt'))
    // Mapped paths need credentials.
    assert.equal((await ask('HTTP/2', `${own.url}/console`, { ca })).status, 401)
    await own.stop()
  })
})
