import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { compiled, discard, eventually, kubectlFor, readText, run } from '../../support/oriel.ts'
import { bound, clusterRole, masters, type People, startWithPeople } from '../../support/people.ts'
import { ask } from '../../support/wire.ts'
import { go, openConsole, patience, signIn, startBrowser } from './browser.ts'
import { configMap, hostile, manyWorkspaces, nameOf, noteDefinition, total } from './scene.ts'

describe('the console in Chromium', function () {
  this.timeout(300_000)
  let people: People
  let browser: Browser
  let url: string
  const place = `/clusters/root:${nameOf(1)}`

  before(async function () {
    browser = await startBrowser(this)
    people = await startWithPeople()
    url = people.oriel.url.replace('127.0.0.1', 'localhost')
    await manyWorkspaces(people)
    const phase = () =>
      people.as(masters)(`/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces/${nameOf(1)}`)
    await eventually(
      phase,
      ({ body }) => body.includes('"phase":"Ready"') || body.includes('"phase": "Ready"'),
    )
    const rbac = `${place}/apis/rbac.authorization.k8s.io/v1`
    await people.post(masters, `${rbac}/clusterrolebindings`, bound('cluster-admin', 'user-1'))
  })
  after(async () => {
    await browser?.close()
    if (people !== undefined) await discard(people.oriel)
  })

  it('shows an administrator 1,000 workspaces, by keyboard, without a request to another host', async () => {
    const { page, context, faults } = await openConsole({ browser, url })
    await signIn(page, 'masters-token')
    await page.getByText(/^Show 200 more of [78]\d\d$/).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(nameOf(998))
    await eventually(
      () => page.getByRole('treeitem').count(),
      count => count === 2,
    )
    await page.getByRole('treeitem').first().focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/console#/workspaces/root%3A${nameOf(998)}`)
    await page.getByText('MountObjectNotFound').or(page.getByText('not found')).first().waitFor()
    assert.deepEqual(faults, [])
    await context.close()
  })

  it('keeps the token in memory only, and asks for it again after a reload', async () => {
    const { page, context } = await openConsole({ browser, url })
    await signIn(page, 'masters-token')
    await page.getByRole('treeitem').first().waitFor()
    const kept: string = await page.evaluate(
      'JSON.stringify([localStorage, sessionStorage, document.cookie, location, document.documentElement.outerHTML])',
    )
    assert.ok(kept.length > 100 && !kept.includes('masters-token'))
    assert.deepEqual(await context.cookies(), [])
    await page.reload()
    await page.locator('input[name=token]').waitFor()
    await context.close()
  })

  it('follows a link that is opened before the page has been painted', async () => {
    const { page, context, faults } = await openConsole({ browser, url })
    await page.evaluate(`new MutationObserver((_, observer) => {
      if (document.getElementById('main') === null) return
      observer.disconnect()
      location.hash = '#/views/root'
    }).observe(document.body, { childList: true, subtree: true })`)
    await signIn(page, 'masters-token')
    await page.locator('tr[data-view=workspaces]').waitFor()
    assert.deepEqual(faults, [])
    await context.close()
  })

  it('shows what a kind has as it changes, under load, and text of tenants as text', async () => {
    const crds = `${place}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
    assert.equal((await people.post(masters, crds, noteDefinition)).status, 201)
    const notes = `${place}/apis/example.com/v1/namespaces/default/notes`
    const create = (name: string) =>
      people.post(masters, notes, {
        apiVersion: 'example.com/v1',
        kind: 'Note',
        metadata: { name },
        text: hostile,
      })
    await eventually(
      () => create('first'),
      ({ status }) => status === 201,
    )
    const { page, context, faults } = await openConsole({ browser, url })
    await signIn(page, 'user-1-token')
    await go(page, `#/objects/root%3A${nameOf(1)}?resource=notes.example.com`)
    await page.locator('tr[data-key$="/first"]').waitFor()
    for (let i = 0; i < 100; i += 20) {
      const told = await Promise.all(Array.from({ length: 20 }, (_, j) => create(`note-${i + j}`)))
      assert.deepEqual(new Set(told.map(({ status }) => status)), new Set([201]))
    }
    await page.locator('tr[data-key$="/note-99"]').waitFor()
    const status = page.getByRole('status')
    await eventually(
      () => status.textContent(),
      text => /^101 · [1-9]\d* changes seen$/.test(text ?? ''),
    )
    assert.equal(await page.locator('tr[data-key$="/first"] td').last().textContent(), hostile)
    assert.equal(await page.locator('main img, main script').count(), 0)
    assert.deepEqual(faults, [])
    await context.close()
  })

  it('shows the views with their requests, and updates them', async () => {
    const { page, context, faults } = await openConsole({ browser, url })
    await signIn(page, 'masters-token')
    await go(page, '#/views/root')
    const requests = page.locator('tr[data-view=workspaces] [data-requests]')
    const before = Number((await requests.textContent())?.replace(',', ''))
    await people.as(masters)(
      '/services/workspaces/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces?limit=1',
    )
    await eventually(
      () => requests.textContent(),
      text => Number(text?.replace(',', '')) > before,
    )
    assert.deepEqual(faults, [])
    await context.close()
  })

  it('shows an ordinary user only what the API permits', async () => {
    await people.post(
      masters,
      `/clusters/root:${nameOf(2)}/api/v1/namespaces/default/configmaps`,
      configMap('hidden-plan', 'x'),
    )
    const { page, context, faults } = await openConsole({ browser, url })
    await signIn(page, 'user-1-token')
    await page.getByRole('treeitem').first().waitFor()
    for (const hash of [
      `#/objects/root%3A${nameOf(2)}`,
      `#/apis/root%3A${nameOf(2)}`,
      '#/views/root',
      `#/workspaces/root%3A${nameOf(2)}`,
    ]) {
      await go(page, hash)
      await page.getByText('Not permitted').first().waitFor()
    }
    assert.ok(!(await page.content()).includes('hidden-plan'))
    await go(page, `#/objects/root%3A${nameOf(1)}?resource=configmaps`)
    await page.locator('tr[data-key$="/default/kube-root-ca.crt"]').waitFor()
    assert.deepEqual(faults, [])
    await context.close()
  })

  it('explains a decision as oriel explain does', async () => {
    const roles = `${place}/apis/rbac.authorization.k8s.io/v1/clusterroles`
    await people.post(
      masters,
      roles,
      clusterRole('unused', { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }),
    )
    const { page, context, faults } = await openConsole({ browser, url })
    await signIn(page, 'user-1-token')
    await go(page, `#/access/root%3A${nameOf(1)}`)
    await page.getByLabel('User').fill('user-2')
    await page.getByLabel('Resource').fill('secrets')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.locator('.result.denied').waitFor()
    const steps = await page.locator('.step:not(.ask):not(.result) strong').allTextContents()
    const { stdout } = await run(process.execPath, [
      ...[compiled, 'explain', 'list', 'secrets', '--as', 'user-2', '--output', 'json'],
      ...['--kubeconfig', people.oriel.kubeconfig, '--server', `${people.oriel.url}${place}`],
    ])
    const { explanation } = JSON.parse(stdout) as { explanation: { steps: { authorizer: string }[] } }
    assert.deepEqual(
      steps,
      explanation.steps.map(({ authorizer }) => authorizer),
    )
    assert.match(await page.getByLabel('Objects that grant it').first().inputValue(), /ClusterRoleBinding/)
    assert.deepEqual(faults, [])
    await context.close()
  })

  it('asks for the token again when the server no longer accepts it', async () => {
    const file = join(people.oriel.directory, 'grace.kubeconfig')
    const user = (...args: readonly string[]) =>
      run(process.execPath, [compiled, 'user', ...args, '--data-directory', people.oriel.directory])
    assert.equal((await user('add', 'grace', '--output', file)).code, 0)
    const token = /token: "?([^"\s]+)/.exec(await readText(file))?.[1] ?? ''
    const { page, context } = await openConsole({ browser, url })
    await signIn(page, token)
    await page.getByRole('treeitem').first().waitFor()
    assert.equal((await user('remove', 'grace')).code, 0)
    await eventually(
      async () => {
        await go(page, `#/apis/root%3A${nameOf(Math.floor(Math.random() * total))}`)
        return page.locator('input[name=token]').count()
      },
      count => count === 1,
      patience,
    )
    await page.getByText('The session has ended').waitFor()
    await context.close()
  })

  it('follows the dark and light scheme of the system', async () => {
    const backgrounds = await Promise.all(
      (['light', 'dark'] as const).map(async colorScheme => {
        const { page, context } = await openConsole({ browser, url, colorScheme })
        await page.locator('input[name=token]').waitFor()
        const found = await page.evaluate('getComputedStyle(document.body).backgroundColor')
        await context.close()
        return String(found)
      }),
    )
    assert.equal(new Set(backgrounds).size, 2)
  })

  it('refuses a wrong token in words', async () => {
    const { page, context } = await openConsole({ browser, url })
    await signIn(page, 'wrong')
    await page.getByText('The server does not accept this token.').waitFor()
    await context.close()
  })
})

describe('the files of the console', function () {
  this.timeout(60_000)
  let people: People
  before(async () => {
    people = await startWithPeople()
  })
  after(() => discard(people.oriel))

  it('are served without credentials, and are in no frame, run no inline script, and load nothing from elsewhere', async () => {
    for (const path of ['/console', '/console/main.js', '/console/console.css', '/console/icon.svg']) {
      const { status, body } = await people.as(undefined)(path)
      assert.equal(status, 200, path)
      assert.doesNotMatch(body, /https?:\/\/(?!www\.w3\.org)[a-z]/, path)
    }
    const ca = await readText(join(people.oriel.directory, 'ca.crt'))
    const { headers, body } = await ask('HTTP/1.1', `${people.oriel.url}/console`, { ca })
    const policy = String(headers['content-security-policy'])
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "form-action 'none'",
    ])
      assert.ok(policy.includes(part), part)
    assert.doesNotMatch(policy, /unsafe|\*/)
    assert.doesNotMatch(body, /<script(?![^>]* src=)|<style|\son\w+=/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    const again = { ca, headers: { 'if-none-match': String(headers.etag) } }
    assert.equal((await ask('HTTP/1.1', `${people.oriel.url}/console`, again)).status, 304)
  })

  it('leave other paths to the server', async () => {
    assert.equal((await people.as(undefined)('/console/none.js')).status, 403)
    assert.equal((await kubectlFor(people.oriel, 'root').try(['get', '--raw', '/console/none.js'])).code, 1)
  })
})
