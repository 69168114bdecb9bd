import { setTimeout as sleep } from 'node:timers/promises'
import sqlite from 'node-sqlite3-wasm'
import type { OwnKind } from 'oriel/framework'
import type { ViewPlugin } from 'oriel/plugin'

/** A foreign source: the table `books` of a SQLite file as objects of the logical cluster `cluster`, read again every `seconds`. */
const table: ViewPlugin = (f, { file = 'books.db', cluster = 'root', seconds = 1 }) =>
  f.defineVirtualWorkspace('books', '/services/books', ({ log }) => {
    const kind: OwnKind = {
      group: 'library.example.com',
      version: 'v1',
      resource: 'books',
      kind: 'Book',
      columns: { Title: ({ title }) => String(title), Stock: ({ stock }) => Number(stock) },
      selectableFields: { title: ({ title }) => String(title) },
    }
    const books = new f.ObjectMap(kind)
    const update = () => {
      const database = new sqlite.Database(String(file), { readOnly: true, fileMustExist: true })
      try {
        const rows = database.all('SELECT isbn, title, stock FROM books')
        const objects = rows.map(({ isbn, ...book }) => ({ metadata: { name: String(isbn) }, ...book }))
        books.replace(String(cluster), objects)
      } finally {
        database.close()
      }
    }
    const apis = f.apiSetOf([f.resourceOf(kind, f.storageOf(books))])
    return {
      apis: () => apis,
      async run(ready, signal) {
        update()
        ready()
        while (!signal.aborted) {
          await sleep(Number(seconds) * 1000, undefined, { signal }).catch(() => undefined)
          try {
            update()
          } catch (error) {
            log.warn({ error: String(error) }, 'the table cannot be read: the last rows are served')
          }
        }
      },
    }
  })

export default table
