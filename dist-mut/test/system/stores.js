import { join } from 'node:path';
import { databasesOn, mariadbServer, postgresServer } from '../support/database-servers.js';
import { temporaryFolder } from '../support/temporary.js';
import { SqliteFile } from './sqlite-file.js';
export const sqliteEngine = {
    name: 'SQLite',
    stores: () => {
        const folder = temporaryFolder();
        let files = 0;
        return { create: async () => sqliteStore(join(folder, `${++files}.db`)) };
    },
};
export const postgresEngine = onServer(postgresServer);
export const mariadbEngine = onServer(mariadbServer);
/** A store in a SQLite file. */
export function sqliteStore(path) {
    const inFile = async (look) => {
        const file = await SqliteFile.open(path);
        return look(file).finally(() => file.close());
    };
    return {
        url: `sqlite:${path}`,
        plants: () => inFile((file) => file.plants()),
        damages: () => inFile((file) => file.damages()),
        poison: () => inFile((file) => file.exec(POISON.sqlite)),
    };
}
/** A store in a database of a server, looked at through `knex`. */
export function serverStore(url, client, knex) {
    const toText = client === 'pg' ? 'CAST(id AS TEXT)' : 'CAST(id AS CHAR)';
    return {
        url,
        plants: async () => {
            const rows = await knex('plants')
                .select(knex.raw(`${toText} AS id`), 'name', 'tag')
                .orderBy('plants.id');
            return rows.map(({ id, name, tag }) => ({ id: BigInt(id), name, ...(tag === null ? {} : { tag }) }));
        },
        damages: async () => {
            if (client === 'pg') {
                const [byIndex, byTable] = [await plantsSeen(knex, 'seqscan'), await plantsSeen(knex, 'indexscan')];
                return byIndex === byTable ? [] : [`the index has ${byIndex}, the table ${byTable}`];
            }
            const [rows] = await knex.raw('CHECK TABLE plants EXTENDED');
            return rows.map(({ Msg_text }) => Msg_text).filter((text) => text !== 'OK');
        },
        poison: async () => {
            for (const statement of POISON[client])
                await knex.raw(statement);
        },
    };
}
/** A digest of PostgreSQL's table as it is read without one way of reading. */
async function plantsSeen(knex, without) {
    const settings = without === 'seqscan' ? ['seqscan'] : ['indexscan', 'indexonlyscan', 'bitmapscan'];
    for (const setting of settings)
        await knex.raw(`SET enable_${setting} = off`);
    const { rows } = await knex.raw("SELECT count(*) || ' ' || md5(string_agg(id || name || coalesce(tag, ''), '' ORDER BY id)) AS seen FROM plants");
    for (const setting of settings)
        await knex.raw(`RESET enable_${setting}`);
    return rows[0].seen;
}
function onServer(server) {
    return {
        name: server.name,
        stores: () => {
            const databases = databasesOn(server);
            return {
                create: async () => {
                    const url = await databases.create();
                    return serverStore(url, server.client, databases.connect(url));
                },
            };
        },
    };
}
/** Triggers, as operators write them. */
const POISON = {
    sqlite: `
    CREATE TRIGGER poison BEFORE INSERT ON plants WHEN NEW.name = 'poison'
    BEGIN SELECT RAISE(ABORT, 'poisoned'); END`,
    pg: [
        `CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN IF NEW.name = 'poison' THEN RAISE EXCEPTION 'poisoned'; END IF; RETURN NEW; END $$`,
        'CREATE TRIGGER poison BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION poison()',
    ],
    mysql2: [
        `CREATE TRIGGER poison BEFORE INSERT ON plants FOR EACH ROW
     BEGIN IF NEW.name = 'poison' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'poisoned'; END IF; END`,
    ],
};
//# sourceMappingURL=stores.js.map