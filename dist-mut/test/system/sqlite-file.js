import { once } from 'node:events';
import { promisify } from 'node:util';
import sqlite3 from 'sqlite3';
/** A second connection to the file of a service, from outside of it. */
export class SqliteFile {
    #database;
    constructor(database) {
        this.#database = database;
    }
    static async open(path) {
        const database = new sqlite3.Database(path, sqlite3.OPEN_READWRITE);
        await once(database, 'open');
        return new SqliteFile(database);
    }
    exec(sql) {
        return promisify(this.#database.exec.bind(this.#database))(sql);
    }
    close() {
        return promisify(this.#database.close.bind(this.#database))();
    }
    /** What SQLite's own check of the whole file finds (https://sqlite.org/pragma.html#pragma_integrity_check). */
    async damages() {
        const rows = await this.#all('PRAGMA integrity_check');
        return rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
    }
    /** Every plant, ascending by id. */
    async plants() {
        const rows = await this.#all('SELECT CAST(id AS TEXT) AS id, name, tag FROM plants ORDER BY plants.id');
        return rows.map(({ id, name, tag }) => ({ id: BigInt(id), name, ...(tag === null ? {} : { tag }) }));
    }
    #all(sql) {
        return new Promise((resolve, reject) => {
            this.#database.all(sql, (error, rows) => (error ? reject(error) : resolve(rows)));
        });
    }
}
/** The plants that a file holds, ascending by id. */
export async function plantsIn(path) {
    const file = await SqliteFile.open(path);
    try {
        return await file.plants();
    }
    finally {
        await file.close();
    }
}
//# sourceMappingURL=sqlite-file.js.map