"""Fifteen made-up tables, each with the trouble of one that nobody here had seen, and what `init` should make of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random

Columns = dict[str, list[str]]
QUASI, SENSITIVE, IDENTIFIER, INSENSITIVE = "quasi-identifier", "sensitive", "identifier", "insensitive"


@dataclass(frozen=True)
class StrangeTable:
    """A table as a file: what it is called, how it is written, what `init` is told, and what it should answer.

    ``roles`` are those of the columns that give trouble, ``says`` are pieces of the policy's text, ``refused`` of the
    error where nothing is told.
    """

    make: Callable[[Random], Columns]
    roles: Mapping[str, str]
    says: tuple[str, ...] = ()
    separator: str = ","
    encoding: str = "utf-8"
    header: bool = True
    told: tuple[str, ...] = ()
    refused: str | None = None

    @property
    def name(self) -> str:
        return self.make.__name__

    def columns(self) -> Columns:
        return self.make(Random(7))

    def raw(self) -> bytes:
        """The bytes of the file."""
        columns = self.columns()
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=self.separator, lineterminator="\n")
        if self.header:
            writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return text.getvalue().encode(self.encoding)


def rows_of(names: str, records: Iterable[Iterable[object]]) -> Columns:
    """Return columns of texts from records."""
    columns: Columns = {name: [] for name in names.split()}
    for record in records:
        for name, value in zip(columns, record, strict=True):
            columns[name].append(str(value))
    return columns


FIRST = ("James", "Maria", "Linda", "Robert", "Anna", "David", "Sarah", "Paul", "Emma", "Kevin", "Zora", "Ulf")
LAST = ("Smith", "Jones", "Garcia", "Miller", "Davis", "Wilson", "Clark", "Young", "Baker", "Hill", "Quist", "Oduya")


def survey(random: Random) -> Columns:
    """People in households: a number that members share, answers as codes with 9 for none, a sex without its name."""
    rows: Columns = {key: [] for key in ("hh_id", "line", "q1", "q2", "age", "region", "income", "wt")}
    for home in range(200):
        for line in range(random.randint(1, 4)):
            values = (
                100_000 + home * 7, line + 1, random.choice(["male", "female"]), random.choice([1, 2, 3, 4, 9]),
                random.randint(0, 88), random.choice(["north", "south", "east"]), random.randint(0, 90) * 1000,
                round(random.uniform(200, 900), 3),
            )  # fmt: skip
            for key, value in zip(rows, values, strict=True):
                rows[key].append(str(value))
    return rows


def follow_up(random: Random) -> Columns:
    """Patients seen several times: measurements vary, sex and age do not, and `subject_age` is no subject."""
    rows: Columns = {key: [] for key in ("subjid", "visit", "gender", "subject_age", "sbp", "relapse")}
    for person in range(120):
        sex, age = random.choice(["M", "F"]), random.randint(20, 90)
        for visit in range(random.randint(2, 4)):
            values = (person * 13 + 5001, visit, sex, age, random.randint(90, 190), random.choice(["yes", "no"]))
            for key, value in zip(rows, values, strict=True):
                rows[key].append(str(value))
    return rows


def stops(random: Random) -> Columns:
    """Police stops: an officer's hash, a time of day, a precinct and the borough that follows from it."""
    rows: Columns = {
        key: []
        for key in ("raw_row_number", "time", "precinct", "borough", "subject_age", "subject_sex", "officer", "fine")
    }
    for row in range(600):
        precinct = random.randint(1, 30)
        values = (
            row + 1, f"{random.randint(0, 23)}:{random.randint(0, 59):02d}", precinct, f"B{precinct // 8}",
            random.randint(16, 80), random.choice(["male", "female"]), f"{random.randint(1, 40) * 987654321:010x}a1",
            f"${random.randint(2, 90) * 10}.00",
        )  # fmt: skip
        for key, value in zip(rows, values, strict=True):
            rows[key].append(str(value))
    return rows


def court(random: Random) -> Columns:
    """Court records: names in columns called otherwise, numbers of cases, scores; `two_year_recid` is no year."""
    rows: Columns = {
        key: []
        for key in ("case", "given", "family", "sex", "age", "decile_score", "days", "two_year_recid", "is_violent")
    }
    used = random.sample(range(10_000_000, 99_999_999), 400)
    for row in range(400):
        values = (
            used[row], random.choice(FIRST), random.choice(LAST), random.choice(["Male", "Female"]),
            random.randint(18, 70), random.randint(1, 10), random.randint(0, 300), random.randint(0, 1),
            int(random.random() < 0.01),
        )  # fmt: skip
        for key, value in zip(rows, values, strict=True):
            rows[key].append(str(value))
    return rows


def klinik(random: Random) -> Columns:
    """A German clinic's export: semicolons, cp1252, decimal commas, days first, postcodes with leading zeros."""
    towns = {"01067": "Dresden", "04109": "Leipzig", "50667": "Köln", "80331": "München", "90402": "Nürnberg"}
    records = []
    for number in range(160):
        plz = random.choice(list(towns))
        records.append((
            f"P{number:05d}", random.choice(["m", "w"]), f"{random.randint(1, 28):02d}.{random.randint(1, 12):02d}."
            f"{random.randint(1930, 2005)}", plz, towns[plz], f"{random.uniform(48, 120):.1f}".replace(".", ","),
            random.choice(["Grippe", "Gastritis", "Migräne", "Angina"]),
        ))  # fmt: skip
    return rows_of("Fallnummer Geschlecht Geburtsdatum PLZ Ort Gewicht Diagnose", records)


def encuesta(random: Random) -> Columns:
    """A Spanish survey: names of columns and sexes in Spanish, amounts with a euro sign and a decimal comma."""
    return rows_of(
        "nombre apellidos sexo edad provincia ingresos vota",
        (
            (
                random.choice(["María", "José", "Carmen", "Antonio", "Ana", "Luis", "Pilar", "Javier", "Elena"]),
                random.choice(["García", "Martínez", "López", "Sánchez", "Pérez", "Gómez"]),
                random.choice(["Hombre", "Mujer"]), random.randint(18, 90),
                random.choice(["Madrid", "Sevilla", "Lugo"]),
                f"{random.randint(9, 60) * 100},50 €", random.choice(["sí", "no", "ns/nc"]),
            )
            for _ in range(150)
        ),
    )  # fmt: skip


def registre(random: Random) -> Columns:
    """A French register: accents in names of columns, sexes as 1 and 2, a year of birth, months."""
    return rows_of(
        "prénom sexe année_naissance département entrée motif",
        (
            (
                random.choice(["Zoé", "Léa", "Hugo", "Louis", "Inès", "Jules", "Chloé", "Noé", "Adèle", "Théo", "Eve"]),
                random.choice([1, 2]), random.randint(1940, 2004), random.choice(["01", "2A", "33", "75", "974"]),
                f"2024-{random.randint(1, 12):02d}", random.choice(["chute", "fièvre", "contrôle"]),
            )
            for _ in range(150)
        ),
    )  # fmt: skip


def weights(random: Random) -> Columns:
    """A table of an old program: blanks between the values, numbers only, a 0 and a 1 for the sex."""
    return rows_of(
        "subj female age kg cm death",
        (
            (
                7001 + 3 * n, random.randint(0, 1), random.randint(20, 80), round(random.uniform(45, 110), 1),
                random.randint(150, 200), int(random.random() < 0.2),
            )
            for n in range(130)
        ),
    )  # fmt: skip


def census(random: Random) -> Columns:
    """A file without a line of names, as Adult comes."""
    return rows_of(
        "age work marital hours income",
        (
            (
                random.randint(17, 90), random.choice(["Private", "State-gov", "?"]),
                random.choice(["Married", "Never-married", "Widowed"]), random.randint(1, 99),
                random.choice(["<=50K", ">50K"]),
            )
            for _ in range(150)
        ),
    )  # fmt: skip


def journeys(random: Random) -> Columns:
    """Dates in several forms: ISO, moments, month first, a month, a year, a time of day, seconds since 1970."""
    records = []
    for _ in range(120):
        year, month, day = random.randint(2019, 2024), random.randint(1, 12), random.randint(1, 28)
        records.append((
            f"{year}-{month:02d}-{day:02d}", f"{year}-{month:02d}-{day:02d}T{random.randint(0, 23):02d}:15:00",
            f"{month}/{day}/{year}", f"{year}-{month:02d}", year,
            f"{random.randint(5, 23)}:{random.randint(0, 59):02d}",
            1_500_000_000 + random.randint(0, 10**8), random.choice(["bus", "tram", "boat"]),
        ))  # fmt: skip
    return rows_of("booked departed returned invoiced built at stamp means", records)


def gaps(random: Random) -> Columns:
    """Columns with one value, with none, with marks for missing, and one that is nearly always absent."""
    return rows_of(
        "site country age hba1c comment2 rare result",
        (
            (
                "S1", "", random.choice([random.randint(18, 80), "NA"]),
                random.choice([round(random.gauss(6, 1), 1), "NA"]),
                "-", "x" if random.random() < 0.03 else "", random.choice(["pos", "neg", "NA"]),
            )
            for _ in range(140)
        ),
    )  # fmt: skip


def tickets(random: Random) -> Columns:
    """Texts that people wrote, with their addresses and numbers to call."""
    words = ["the", "patient", "came", "back", "after", "two", "days", "and", "said", "it", "hurts"]
    return rows_of(
        "ticket contact_mail callback remarks topic priority",
        (
            (
                f"T-{random.randint(10**6, 10**7)}", f"user{n}@example.org",
                f"+49 30 {random.randint(10**6, 10**7 - 1)}",
                " ".join(random.sample(words, 10)), random.choice(["bill", "pain", "visit"]), random.randint(1, 3),
            )
            for n in range(90)
        ),
    )  # fmt: skip


def questionnaire(random: Random) -> Columns:
    """Very many columns: answers from 1 to 5, 9 for none, beside three that others know."""
    answers = [f"q{n}" for n in range(1, 121)]
    return rows_of(
        " ".join(["resp_no", "gender", "agegroup", "canton", *answers]),
        (
            (
                n + 1, random.choice(["Male", "Female", "Other"]),
                random.choice(["<18", "18-29", "30-49", "50-64", "65+"]),
                random.choice(["ZH", "BE", "VD", "TI"]), *(random.choice([1, 2, 3, 4, 5, 9]) for _ in answers),
            )
            for n in range(60)
        ),
    )  # fmt: skip


def village(random: Random) -> Columns:
    """Six people."""
    return rows_of(
        "name age zip illness",
        [
            ("Ann", 34, "02138", "flu"), ("Bob", 36, "02139", "gout"), ("Cid", 34, "02138", "flu"),
            ("Dee", 57, "02141", "cough"), ("Eve", 58, "02141", "flu"), ("Fay", 51, "02142", "gout"),
        ],
    )  # fmt: skip


def payroll(random: Random) -> Columns:
    """Salaries: numbers of employees, first and last names, a department and its manager, dollars, zip codes."""
    heads = {"Sales": "Q. Oduya", "IT": "R. Quist", "Legal": "S. Baker", "Plant": "T. Hill", "Lab": "U. Young"}
    records = []
    used = random.sample(range(10_000, 99_999), 200)
    for number in used:
        department = random.choice(list(heads))
        records.append((
            number, random.choice(FIRST), random.choice(LAST), department, heads[department],
            f"0{random.randint(2101, 2199)}", f"${random.randint(30, 200)},{random.randint(0, 999):03d}",
            random.choice(["full", "part"]),
        ))  # fmt: skip
    return rows_of("badge First Last dept manager zip gross contract", records)


TABLES = (
    StrangeTable(survey, {
        "hh_id": IDENTIFIER, "q1": QUASI, "age": QUASI, "region": QUASI, "income": SENSITIVE, "wt": QUASI,
    }, says=("it numbers households", "sensitive: income, t: 0.3, distance: ordered")),
    StrangeTable(follow_up, {"subjid": "individual", "gender": QUASI, "subject_age": QUASI, "relapse": SENSITIVE},
        says=("It says whose record it is", "conflicts: generalize")),
    StrangeTable(stops, {
        "raw_row_number": IDENTIFIER, "time": QUASI, "precinct": QUASI, "borough": QUASI, "subject_age": QUASI,
        "subject_sex": QUASI, "officer": IDENTIFIER, "fine": SENSITIVE,
    }, says=("its values are hashes", "precinct -> borough")),
    StrangeTable(court, {
        "case": IDENTIFIER, "given": IDENTIFIER, "family": IDENTIFIER, "sex": QUASI, "age": QUASI,
        "decile_score": SENSITIVE, "two_year_recid": SENSITIVE, "is_violent": SENSITIVE,
    }, says=("last names", "CHECK: nothing is asked for is_violent: 98.8% have one value")),
    StrangeTable(klinik, {
        "Fallnummer": IDENTIFIER, "Geschlecht": QUASI, "Geburtsdatum": QUASI, "PLZ": QUASI, "Ort": QUASI,
        "Gewicht": QUASI, "Diagnose": SENSITIVE,
    }, says=("encoding: cp1252", "PLZ: {role: quasi-identifier, hierarchy: {mask"),
        separator=";", encoding="cp1252", told=("--encoding", "cp1252"), refused="cp1252"),
    StrangeTable(encuesta, {
        "nombre": IDENTIFIER, "apellidos": IDENTIFIER, "sexo": QUASI, "edad": QUASI, "provincia": QUASI,
        "ingresos": SENSITIVE, "vota": SENSITIVE,
    }, says=("sensitive: ingresos, l: 2",), separator=";", encoding="utf-8-sig"),
    StrangeTable(registre, {
        "prénom": IDENTIFIER, "sexe": QUASI, "année_naissance": QUASI, "département": QUASI, "entrée": QUASI,
    }, says=("months: year, decade", "widths: [5, 10, 20, 40], open: both")),
    StrangeTable(weights, {
        "subj": IDENTIFIER, "female": QUASI, "age": QUASI, "kg": QUASI, "cm": QUASI, "death": SENSITIVE,
    }, says=('separator: " "', "every record has its own whole number"), separator=" "),
    StrangeTable(census, {
        "age": QUASI, "work": QUASI, "marital": QUASI, "income": SENSITIVE,
    }, says=('missing: ["?"]',), header=False,
        told=("--columns", "age,work,marital,hours,income"), refused="--columns"),
    StrangeTable(journeys, {
        "booked": QUASI, "departed": QUASI, "returned": QUASI, "invoiced": QUASI, "built": QUASI, "at": QUASI,
        "stamp": IDENTIFIER,
    }, says=("ISO dates: month, year, decade", "times of day: hour", "its values look like years")),
    StrangeTable(gaps, {
        "site": INSENSITIVE, "country": INSENSITIVE, "age": QUASI, "comment2": INSENSITIVE, "result": SENSITIVE,
    }, says=("All records have the same value", "It has no values")),
    StrangeTable(tickets, {
        "ticket": IDENTIFIER, "contact_mail": IDENTIFIER, "callback": IDENTIFIER, "remarks": IDENTIFIER,
    }, says=("e-mail addresses", "phone numbers", "free text can name anybody", "nothing else can be protected")),
    StrangeTable(questionnaire, {"resp_no": IDENTIFIER, "gender": QUASI, "agegroup": QUASI, "canton": QUASI},
        says=("Its values are sexes",)),
    StrangeTable(village, {"name": IDENTIFIER, "age": QUASI, "zip": QUASI, "illness": SENSITIVE},
        says=("a table this small allows no more",)),
    StrangeTable(payroll, {
        "badge": IDENTIFIER, "First": IDENTIFIER, "Last": IDENTIFIER, "dept": QUASI, "manager": QUASI, "zip": QUASI,
        "gross": SENSITIVE,
    }, says=("first names", "last names", "its values are amounts of money")),
)  # fmt: skip
