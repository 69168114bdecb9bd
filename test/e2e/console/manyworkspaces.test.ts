import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { discard, eventually } from '../../support/oriel.ts'
import { type People, startWithPeople } from '../../support/people.ts'
import { userAt } from '../../support/watcher.ts'
import { go, type Opened, openConsole, signIn, startBrowser } from './browser.ts'
import { manyWorkspaces, nameOf, total, workspaceOf, workspacesPath } from './scene.ts'

/** Numbers of workspaces: the table lists them in two pages; these are deleted, changed, and created afterwards. */
const deleted = range(0, 100)
const changed = range(400, 700)
const created = range(total, total + 200)
const listed = range(0, total)

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}

const path = `/clusters/root${workspacesPath}`
const one = (i: number): string => `${path}/${nameOf(i)}`
const ready = (item: KubeObject): boolean =>
  (item.status as { phase?: string } | undefined)?.phase === 'Ready'

/** Sends requests, 20 at a time, and checks their status. */
async function each(
  numbers: readonly number[],
  send: (i: number) => Promise<{ status: number; text: string }>,
) {
  for (let i = 0; i < numbers.length; i += 20)
    for (const { status, text } of await Promise.all(numbers.slice(i, i + 20).map(send)))
      assert.ok(status === 200 || status === 201, text)
}

/** All rows of the table, by the names of their objects. */
async function rowsOf(page: Page): Promise<ReadonlyMap<string, string>> {
  const more = page.getByRole('button', { name: /^Show \d+ more/ })
  while ((await more.count()) > 0) await more.click()
  const rows = await page
    .locator('tr[data-key]')
    .evaluateAll(found => found.map(row => [row.getAttribute('data-key'), row.textContent] as const))
  return new Map(rows.map(([key, text]) => [String(key).split('/').at(-1) ?? '', text]))
}

describe('1,000 workspaces with logical clusters in the console in Chromium', function () {
  this.timeout(420_000)
  let people: People
  let browser: Browser
  let client: Client
  let opened: Opened

  const items = async (): Promise<readonly KubeObject[]> =>
    (await client(path)).json<KubeObject & { items: readonly KubeObject[] }>().items
  const allReady = (count: number) =>
    eventually(items, found => found.length === count && found.every(ready), 240_000)
  const create = (i: number) => {
    const headers = { 'content-type': 'application/json' }
    return client(path, { method: 'POST', headers, body: JSON.stringify(workspaceOf(i)) })
  }
  const label = (i: number) => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const body = JSON.stringify({ metadata: { labels: { round: 'second' } } })
    return client(one(i), { method: 'PATCH', headers, body })
  }

  before(async function () {
    browser = await startBrowser(this)
    people = await startWithPeople()
    client = await clientOf(userAt(people.oriel, people.oriel.url, 'masters-token'))
    await manyWorkspaces(people, total)
    await allReady(total)
    opened = await openConsole({ browser, url: people.oriel.url.replace('127.0.0.1', 'localhost') })
    await signIn(opened.page, 'masters-token')
    await opened.page.getByRole('treeitem').first().waitFor()
  })
  after(async () => {
    await browser?.close()
    client?.close()
    if (people !== undefined) await discard(people.oriel)
  })

  it('are rows that follow writes, and as many as there are', async () => {
    const { page, faults } = opened
    await go(page, '#/objects/root?resource=workspaces.tenancy.kcp.io')
    await page.getByText('1,000 · 0 changes seen').waitFor()
    await Promise.all([
      each(created, create),
      each(changed, label),
      each(deleted, i => client(one(i), { method: 'DELETE' })),
    ])
    await allReady(total + created.length - deleted.length)
    const expected = new Set(
      [...listed, ...changed, ...created].filter(i => !deleted.includes(i)).map(nameOf),
    )
    const wrong = async (): Promise<readonly string[]> => {
      const rows = await rowsOf(page)
      return [
        ...[...expected].filter(name => !rows.get(name)?.includes('Ready')),
        ...[...rows.keys()].filter(name => !expected.has(name)),
      ].map(name => `${name}: ${rows.get(name)}`)
    }
    await eventually(wrong, names => names.length === 0, 240_000)
    assert.deepEqual(faults, [])
  })

  it('are found in the tree, which follows writes, too', async () => {
    const { page, faults } = opened
    await go(page, '#/workspaces/root')
    await page.getByRole('button', { name: 'Show 200 more of 900' }).waitFor()
    await page.getByLabel('Filter by name').fill('w-30')
    await create(3_000)
    await page
      .getByRole('treeitem')
      .filter({ hasText: nameOf(3_000) })
      .waitFor()
    await client(one(3_000), { method: 'DELETE' })
    await page.getByText('No workspace has such a name.').waitFor()
    assert.deepEqual(faults, [])
  })
})
