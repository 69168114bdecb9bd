import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { skip } from '../../support/notrun.ts'

/** The Chromium of the PATH; undefined without one. */
export function installedChromium(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.flatMap(folder => names.map(name => join(folder, name))).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Starts Chromium. Without one, the suite is not run, and `npm test` names the command that installs it. */
export function startBrowser(context: Mocha.Context): Promise<Browser> {
  const program = installedChromium()
  return program === undefined ? skip(context, noChromium) : launch(program)
}

export const noChromium =
  'Chromium is not on the PATH: apt-get install chromium, or scripts/install-chromium.sh'

export const launch = (executablePath: string): Promise<Browser> =>
  // Root, as in containers, has no sandbox.
  chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })

/** A page, and what went wrong in it. */
export interface Opened {
  readonly page: Page
  readonly context: BrowserContext
  /** Uncaught errors, violations of the Content-Security-Policy, and requests to other hosts. */
  readonly faults: readonly string[]
}

/** Milliseconds: Chromium may be slow on a busy machine. */
export const patience = 60_000

export interface Opening {
  readonly browser: Browser
  /** `https://localhost:6443` */
  readonly url: string
  readonly colorScheme?: 'light' | 'dark'
}

/** Opens the console in a browser without cookies and storages. */
export async function openConsole({ browser, url, colorScheme = 'light' }: Opening): Promise<Opened> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, colorScheme })
  const page = await context.newPage()
  page.setDefaultTimeout(patience)
  const faults: string[] = []
  page.on('pageerror', error => void faults.push(error.message))
  page.on('dialog', dialog => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', message => {
    if (/Content.Security.Policy|Trusted/i.test(message.text())) faults.push(message.text())
  })
  page.on('request', request => {
    if (!request.url().startsWith(`${url}/`)) faults.push(`request to ${request.url()}`)
  })
  await page.goto(`${url}/console`)
  return { page, context, faults }
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.fill('input[name=token]', token)
  await page.keyboard.press('Enter')
}

/** Goes to a page of the console without loading it again. */
export const go = (page: Page, hash: string): Promise<void> =>
  page.evaluate(to => {
    ;(globalThis as unknown as { location: { hash: string } }).location.hash = to
  }, hash)
