import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'
import { discard, eventually } from '../../support/oriel.ts'
import { masters, type People, startWithPeople } from '../../support/people.ts'
import { go, type Opened, openConsole, signIn, startBrowser } from './browser.ts'
import { hostile, noteDefinition } from './scene.ts'

const team = '/clusters/root:team'
const workspaces = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces'

const workspace = {
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'team', annotations: { 'example.com/text': hostile } },
}

/** A kind that shows an annotation, a label and the message of a condition. */
const [served] = noteDefinition.spec.versions
const shownDefinition = {
  ...noteDefinition,
  spec: {
    ...noteDefinition.spec,
    versions: [
      {
        ...served,
        additionalPrinterColumns: [
          { name: 'Annotation', type: 'string', jsonPath: '.metadata.annotations.example\\.com/text' },
          { name: 'Label', type: 'string', jsonPath: '.metadata.labels.example\\.com/label' },
          { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message' },
        ],
      },
    ],
  },
}

const note = {
  apiVersion: 'example.com/v1',
  kind: 'Note',
  metadata: {
    name: 'note',
    annotations: { 'example.com/text': hostile },
    labels: { 'example.com/label': 'javascript.alert-1' },
  },
  status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Hostile', message: hostile }] },
}

const event = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'event', namespace: 'default' },
  involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: hostile, namespace: 'default' },
  type: 'Warning',
  reason: hostile.slice(0, 100),
  message: hostile,
  source: { component: hostile },
}

const apis = { apiVersion: 'apis.kcp.io/v1alpha2' }
const exported = { ...apis, kind: 'APIExport', metadata: { name: 'texts' }, spec: {} }
const binding = {
  ...apis,
  kind: 'APIBinding',
  metadata: { name: 'texts' },
  spec: { reference: { export: { path: 'root:team', name: 'texts' } } },
}

describe('texts of tenants in the console in Chromium', function () {
  this.timeout(240_000)
  let people: People
  let browser: Browser
  let opened: Opened

  const created = async (path: string, object: object): Promise<void> => {
    await eventually(
      () => people.post(masters, path, object),
      ({ status }) => status === 201 || status === 409,
    )
  }
  const condition = {
    type: 'Hostile',
    status: 'False',
    reason: 'Hostile',
    severity: 'Error',
    message: hostile,
  }
  /** Adds the condition, which controllers keep because it is not theirs. */
  const setCondition = async (path: string): Promise<void> => {
    const patch = [
      {
        op: 'add',
        path: '/status/conditions/-',
        value: { ...condition, lastTransitionTime: '2026-01-02T03:04:05Z' },
      },
    ]
    const headers = { 'content-type': 'application/json-patch+json' }
    await eventually(
      () => people.as(masters)(`${path}/status`, { method: 'PATCH', headers, body: JSON.stringify(patch) }),
      ({ status }) => status === 200,
    )
  }

  before(async function () {
    browser = await startBrowser(this)
    people = await startWithPeople()
    await created(workspaces, workspace)
    await created(`${team}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, shownDefinition)
    await created(`${team}/apis/example.com/v1/namespaces/default/notes`, note)
    await created(`${team}/api/v1/namespaces/default/events`, event)
    await created(`${team}/apis/apis.kcp.io/v1alpha2/apiexports`, exported)
    await created(`${team}/apis/apis.kcp.io/v1alpha2/apibindings`, binding)
    await setCondition(`${workspaces}/team`)
    await setCondition(`${team}/apis/apis.kcp.io/v1alpha2/apibindings/texts`)
    opened = await openConsole({ browser, url: people.oriel.url.replace('127.0.0.1', 'localhost') })
    await signIn(opened.page, 'masters-token')
    await opened.page.getByRole('treeitem').first().waitFor()
  })
  after(async () => {
    await browser?.close()
    if (people !== undefined) await discard(people.oriel)
  })

  /** Waits for a text, and checks that it is a text. */
  async function isText(page: Page, hash: string, text = hostile): Promise<void> {
    await go(page, hash)
    await page.locator('main').getByText(text, { exact: false }).first().waitFor()
    assert.equal(await page.locator('main img, main script').count(), 0)
    assert.deepEqual(opened.faults, [])
  }

  it('are texts in the messages of events', () =>
    isText(opened.page, '#/objects/root%3Ateam?resource=events'))

  it('are texts in annotations, labels and conditions of objects', async () => {
    const { page } = opened
    await isText(page, '#/objects/root%3Ateam?resource=notes.example.com')
    const cells = await page.locator('tr[data-key$="/note"] td').allTextContents()
    assert.deepEqual(cells.slice(-3), [hostile, 'javascript.alert-1', hostile])
  })

  it('are texts in conditions of workspaces', () => isText(opened.page, '#/workspaces/root%3Ateam'))

  it('are texts in conditions of bindings', () => isText(opened.page, '#/apis/root%3Ateam'))

  it('are texts in the names of users and objects that are asked about', async () => {
    const { page } = opened
    await go(page, '#/access/root%3Ateam')
    await page.getByLabel('User').fill(hostile)
    await page.getByLabel('Resource').fill('secrets')
    await page.getByRole('button', { name: 'Explain' }).click()
    await isText(page, '#/access/root%3Ateam')
  })

  it('would be noticed if they were executed', async () => {
    const { page, context, faults } = await openConsole({
      browser,
      url: people.oriel.url.replace('127.0.0.1', 'localhost'),
    })
    await page.evaluate(
      `try { document.body.innerHTML = ${JSON.stringify(hostile)} } catch (error) { console.error(String(error)) }`,
    )
    await eventually(
      async () => faults.length,
      count => count > 0,
    )
    await context.close()
  })
})
