"""Make the small hospital that ships with kveil: synthetic patients, their visits and the hierarchies.

Run as ``python scripts/make_hospital.py``; the files land in ``src/kveil/data/hospital/``.

Every run writes the same bytes. Of the generator only ``random()`` is used, since it alone is promised to
give the same sequence in every Python version, and of arithmetic only + - * /, since the functions of a C
library may differ in the last digit.
"""

import csv
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")
Weighted = Sequence[tuple[Value, int]]

SEED = 20241231
PATIENTS = 2000
FIRST_DAY = date(2023, 1, 1)
LAST_DAY = date(2024, 12, 31)
FOLDER = Path(__file__).resolve().parent.parent / "src" / "kveil" / "data" / "hospital"

SEX_MISSING_PER_MILLE = 4
WEIGHT_MISSING_PER_MILLE = 25
REPEATED_DIAGNOSIS_PER_MILLE = 420
LARGEST_PATIENT_NUMBER = 9999

ADULT = 18
SENIOR = 65

# lowest age, highest age, share
AGE_BANDS = (
    (0, 4, 6),
    (5, 17, 8),
    (18, 34, 16),
    (35, 49, 16),
    (50, 64, 21),
    (65, 79, 22),
    (80, 89, 9),
    (90, 97, 2),
)

SEXES = (("F", 53), ("M", 47))

# number of visits, share
VISITS_YOUNGER = ((1, 31), (2, 24), (3, 17), (4, 12), (5, 7), (6, 5), (7, 3), (8, 1))
VISITS_SENIOR = ((1, 17), (2, 20), (3, 19), (4, 15), (5, 12), (6, 8), (7, 5), (8, 4))

INSURANCE_CHILD = (("Private", 54), ("Medicaid", 40), ("Self-pay", 3), ("Military", 3))
INSURANCE_ADULT = (("Private", 64), ("Medicaid", 20), ("Medicare", 4), ("Self-pay", 7), ("Military", 5))
INSURANCE_SENIOR = (("Medicare", 82), ("Private", 11), ("Medicaid", 5), ("Military", 2))

# age, mean of women, mean of men, spread; between two ages the line
WEIGHTS = (
    (0, 6.0, 6.4, 1.4),
    (1, 10.0, 10.6, 1.2),
    (5, 18.0, 18.6, 2.4),
    (10, 33.0, 33.0, 6.0),
    (15, 55.0, 60.0, 10.0),
    (20, 66.0, 76.0, 13.0),
    (40, 74.0, 87.0, 15.0),
    (65, 74.0, 86.0, 14.0),
    (85, 63.0, 74.0, 11.0),
    (97, 56.0, 66.0, 9.0),
)
LIGHTEST, HEAVIEST = 3, 180

REGIONS = {
    "Massachusetts": "New England",
    "Rhode Island": "New England",
    "New Jersey": "Mid-Atlantic",
    "Pennsylvania": "Mid-Atlantic",
    "Ohio": "Midwest",
    "Illinois": "Midwest",
}

# city, state, share, its zips from the most to the least populous
CITIES = (
    ("Boston", "Massachusetts", 210, "02118 02124 02130 02135 02115 02127 02128 02131"),
    ("Cambridge", "Massachusetts", 80, "02139 02138 02141 02140"),
    ("Lowell", "Massachusetts", 45, "01852 01850 01854"),
    ("Springfield MA", "Massachusetts", 55, "01109 01108 01104 01105"),
    ("Worcester", "Massachusetts", 75, "01604 01605 01602 01610"),
    ("Pawtucket", "Rhode Island", 30, "02860 02861"),
    ("Providence", "Rhode Island", 75, "02909 02908 02904 02907 02906"),
    ("Warwick", "Rhode Island", 30, "02889 02886 02888"),
    ("Camden", "New Jersey", 22, "08105 08104 08103"),
    ("Jersey City", "New Jersey", 45, "07305 07306 07304 07302"),
    ("Newark", "New Jersey", 50, "07104 07107 07105 07108"),
    ("Trenton", "New Jersey", 25, "08611 08609 08610"),
    ("Allentown", "Pennsylvania", 25, "18102 18103 18104"),
    ("Philadelphia", "Pennsylvania", 80, "19143 19124 19120 19134 19147 19103"),
    ("Pittsburgh", "Pennsylvania", 40, "15212 15210 15221 15206"),
    ("Cleveland", "Ohio", 35, "44105 44102 44109 44111"),
    ("Columbus", "Ohio", 40, "43207 43229 43211 43204"),
    ("Dayton", "Ohio", 18, "45405 45406 45420"),
    ("Chicago", "Illinois", 70, "60629 60618 60639 60647 60608 60614"),
    ("Rockford", "Illinois", 15, "61107 61101"),
    ("Springfield IL", "Illinois", 15, "62704 62702"),
)

# department, division, last digits of its phone
DEPARTMENTS = (
    ("Emergency", "Acute Care", "0111"),
    ("Intensive Care", "Acute Care", "0119"),
    ("Cardiology", "Medical", "0134"),
    ("Internal Medicine", "Medical", "0120"),
    ("Neurology", "Medical", "0142"),
    ("Oncology", "Medical", "0157"),
    ("Psychiatry", "Medical", "0163"),
    ("General Surgery", "Surgical", "0170"),
    ("Orthopedics", "Surgical", "0176"),
    ("Urology", "Surgical", "0178"),
    ("Obstetrics", "Women and Children", "0185"),
    ("Pediatrics", "Women and Children", "0191"),
)
PHONE_START = "617-555-"

# where a chapter of diagnoses is treated
CHAPTERS: dict[str, Weighted[str]] = {
    "Infectious": (("Internal Medicine", 55), ("Emergency", 35), ("Intensive Care", 10)),
    "Neoplasms": (("Oncology", 80), ("General Surgery", 17), ("Intensive Care", 3)),
    "Endocrine": (("Internal Medicine", 92), ("Emergency", 8)),
    "Mental": (("Psychiatry", 82), ("Emergency", 18)),
    "Nervous": (("Neurology", 84), ("Emergency", 16)),
    "Circulatory": (("Cardiology", 68), ("Emergency", 14), ("Neurology", 9), ("Intensive Care", 9)),
    "Respiratory": (("Internal Medicine", 64), ("Emergency", 28), ("Intensive Care", 8)),
    "Digestive": (("General Surgery", 46), ("Internal Medicine", 38), ("Emergency", 16)),
    "Musculoskeletal": (("Orthopedics", 78), ("Internal Medicine", 22)),
    "Genitourinary": (("Urology", 56), ("Internal Medicine", 34), ("Emergency", 10)),
    "Pregnancy": (("Obstetrics", 90), ("Emergency", 10)),
    "Perinatal": (("Pediatrics", 84), ("Intensive Care", 16)),
    "Injury": (("Orthopedics", 42), ("Emergency", 50), ("Intensive Care", 8)),
}
NOT_REPEATED = ("Pregnancy", "Perinatal")
ALSO_FOR_CHILDREN = ("Emergency", "Intensive Care", "Pediatrics")

# category, chapter, sexes, lowest age, highest age, share, what follows the dot from common to rare
CATEGORIES = (
    ("A09 Gastroenteritis", "Infectious", "FM", 0, 97, 20, "0 9"),
    ("A41 Sepsis", "Infectious", "FM", 40, 97, 12, "9 5"),
    ("B02 Shingles", "Infectious", "FM", 45, 97, 8, "9"),
    ("B34 Viral infection", "Infectious", "FM", 0, 40, 20, "9 0"),
    ("C18 Colon cancer", "Neoplasms", "FM", 45, 97, 14, "9 7"),
    ("C34 Lung cancer", "Neoplasms", "FM", 45, 97, 14, "9 1"),
    ("C50 Breast cancer", "Neoplasms", "F", 35, 97, 36, "9 4 1"),
    ("C61 Prostate cancer", "Neoplasms", "M", 50, 97, 32, "9"),
    ("C91 Lymphoid leukemia", "Neoplasms", "FM", 2, 97, 5, "0 1"),
    ("D12 Colon polyp", "Neoplasms", "FM", 45, 85, 16, "6"),
    ("E03 Low thyroid function", "Endocrine", "F", 20, 97, 22, "9 8"),
    ("E10 Type 1 diabetes", "Endocrine", "FM", 6, 60, 10, "9 6"),
    ("E11 Type 2 diabetes", "Endocrine", "FM", 30, 97, 56, "9 6 2 4"),
    ("E66 Obesity", "Endocrine", "FM", 10, 75, 18, "9"),
    ("E78 High blood lipids", "Endocrine", "FM", 35, 97, 30, "5 0"),
    ("F03 Dementia", "Mental", "FM", 70, 97, 22, "9 1"),
    ("F10 Alcohol use disorder", "Mental", "FM", 20, 75, 14, "2 1"),
    ("F32 Depression", "Mental", "FM", 14, 97, 32, "9 1"),
    ("F41 Anxiety", "Mental", "FM", 12, 80, 26, "9 1"),
    ("F90 Attention deficit", "Mental", "FM", 5, 25, 22, "9 0"),
    ("G20 Parkinson disease", "Nervous", "FM", 60, 97, 9, "9"),
    ("G30 Alzheimer disease", "Nervous", "FM", 65, 97, 14, "9 1"),
    ("G40 Epilepsy", "Nervous", "FM", 2, 97, 9, "9"),
    ("G43 Migraine", "Nervous", "F", 12, 65, 26, "9 1"),
    ("I10 High blood pressure", "Circulatory", "FM", 35, 97, 62, "9 0"),
    ("I21 Heart attack", "Circulatory", "FM", 42, 97, 20, "4 9 3"),
    ("I25 Chronic ischemic heart disease", "Circulatory", "M", 50, 97, 40, "1 5"),
    ("I48 Atrial fibrillation", "Circulatory", "FM", 55, 97, 30, "9 0"),
    ("I50 Heart failure", "Circulatory", "FM", 60, 97, 36, "9 2 3"),
    ("I63 Stroke", "Circulatory", "FM", 55, 97, 20, "9 5"),
    ("J06 Upper airway infection", "Respiratory", "FM", 0, 50, 30, "9 0"),
    ("J18 Pneumonia", "Respiratory", "FM", 0, 97, 22, "9 1"),
    ("J20 Acute bronchitis", "Respiratory", "FM", 1, 80, 16, "9 8"),
    ("J35 Tonsil disease", "Respiratory", "FM", 2, 20, 18, "1 3"),
    ("J44 Chronic obstructive lung disease", "Respiratory", "FM", 50, 97, 26, "9 1 0"),
    ("J45 Asthma", "Respiratory", "FM", 3, 70, 26, "9 0"),
    ("K21 Acid reflux", "Digestive", "FM", 20, 90, 22, "9 0"),
    ("K29 Gastritis", "Digestive", "FM", 18, 90, 12, "7"),
    ("K35 Appendicitis", "Digestive", "FM", 6, 50, 14, "8 3"),
    ("K40 Groin hernia", "Digestive", "M", 0, 90, 20, "9 2"),
    ("K57 Diverticular disease", "Digestive", "FM", 50, 97, 14, "3 2"),
    ("K80 Gallstones", "Digestive", "FM", 25, 90, 18, "2 0"),
    ("M06 Rheumatoid arthritis", "Musculoskeletal", "FM", 30, 90, 10, "9"),
    ("M16 Worn hip", "Musculoskeletal", "FM", 50, 97, 16, "9 1"),
    ("M17 Worn knee", "Musculoskeletal", "FM", 45, 97, 22, "9 0"),
    ("M54 Back pain", "Musculoskeletal", "FM", 18, 90, 34, "5 2"),
    ("M81 Osteoporosis", "Musculoskeletal", "F", 55, 97, 24, "0 8"),
    ("N18 Chronic kidney disease", "Genitourinary", "FM", 45, 97, 24, "3 9 4 5"),
    ("N20 Kidney stones", "Genitourinary", "FM", 20, 80, 12, "0"),
    ("N39 Urinary tract infection", "Genitourinary", "F", 1, 97, 26, "0 3"),
    ("N40 Enlarged prostate", "Genitourinary", "M", 50, 97, 26, "0 1"),
    ("O14 Preeclampsia", "Pregnancy", "F", 18, 45, 14, "1"),
    ("O24 Pregnancy diabetes", "Pregnancy", "F", 18, 45, 20, "4 9"),
    ("O60 Preterm labor", "Pregnancy", "F", 18, 45, 12, "1"),
    ("O80 Single birth", "Pregnancy", "F", 18, 45, 70, "0 9"),
    ("P07 Preterm newborn", "Perinatal", "FM", 0, 0, 60, "3 1"),
    ("P22 Breathing trouble of newborn", "Perinatal", "FM", 0, 0, 50, "1"),
    ("P59 Jaundice of newborn", "Perinatal", "FM", 0, 0, 90, "9 0"),
    ("S06 Concussion", "Injury", "FM", 2, 97, 14, "0 5"),
    ("S52 Broken forearm", "Injury", "FM", 3, 97, 18, "5 6"),
    ("S72 Broken thigh", "Injury", "FM", 65, 97, 22, "0 1"),
    ("S93 Sprained ankle", "Injury", "FM", 8, 60, 18, "4 6"),
)

WOMEN = (
    "Abigail Alice Amara Anika Beatrice Bianca Camila Carmen Celeste Chloe Clara Daria Delia Edith Elena "
    "Esther Fatima Fiona Greta Hazel Helen Imani Irene Ivy Joanna Juniper Keiko Leila Lucia Mabel Maren "
    "Nadia Noemi Olive Petra Priya Rosa Selma Thea Yara"
)
MEN = (
    "Abel Adrian Amir Anton Arlo Benedict Bruno Caleb Cyrus Damian Desmond Diego Elias Emil Felix Gideon "
    "Hamid Hector Hugo Ibrahim Ivan Jasper Joaquin Kenji Lars Leon Malik Marcel Mateo Nestor Oscar Otis "
    "Pavel Quentin Rafael Ruben Silas Tobias Victor Wendell"
)
LAST_NAMES = (
    "Abbott Adeyemi Alder Amaral Andersen Ashby Baptiste Barlow Becker Bianchi Blackwood Bowen Brandt Byrne "
    "Calloway Carver Castillo Chandra Cho Cordova Costa Crane Dalton Delgado Dimitrov Doyle Drake Dunmore "
    "Eklund Ellery Espinoza Farrow Ferreira Finch Foley Fontaine Garrick Ghosh Gorman Grady Haddad Halloran "
    "Harlow Hashimoto Hendry Holm Ibarra Ingram Iqbal Jansen Jessup Kaplan Keane Kessler Kimura Kowalski "
    "Lachance Larkin Lindqvist Lockhart Lund Machado Maddox Marchetti Mbeki Mercado Moreau Nakano Navarro "
    "Nightingale Novak Nwosu Oakes Okafor Olmstead Ortega Paquette Pereira Pham Prescott Quigley Ramsey "
    "Redmond Rinaldi Rourke Sandoval Sayegh Sorensen Stanhope Szabo Tanaka Thorne Tran Ueda Vance Varga "
    "Whitlock Yamada Zapata Zielinski"
)

PATIENT_COLUMNS = "patient_id name birth sex zip city state weight department phone diagnosis insurance"
VISIT_COLUMNS = "patient_id name birth sex zip city state weight visit_date department phone diagnosis"


@dataclass(frozen=True, slots=True)
class Visit:
    """Holds what one stay in one department adds to a patient."""

    day: date
    department: str
    diagnosis: str


@dataclass(frozen=True, slots=True)
class Patient:
    """Holds one person with all visits, oldest first; sex and weight are empty where missing."""

    number: str
    name: str
    birth: date
    sex: str
    zip: str
    city: str
    state: str
    weight: str
    insurance: str
    visits: tuple[Visit, ...]


class Dice:
    """Draws from one seeded stream, through ``random()`` alone."""

    def __init__(self, seed: int) -> None:
        self._stream = random.Random(seed)

    def below(self, end: int) -> int:
        """Draw a whole number from 0 to end - 1."""
        return int(self._stream.random() * end)

    def pick(self, values: Sequence[Value]) -> Value:
        """Draw one of the values, all alike."""
        return values[self.below(len(values))]

    def weighted(self, choices: Weighted[Value]) -> Value:
        """Draw one of the values by its share."""
        rest = self.below(sum(share for _, share in choices))
        for value, share in choices:
            rest -= share
            if rest < 0:
                return value
        raise ValueError("no choice has a share")

    def happens(self, per_mille: int) -> bool:
        """Tell whether an event of this chance takes place."""
        return self.below(1000) < per_mille

    def bell(self) -> float:
        """Draw a nearly normal number of mean 0 and spread 1."""
        # Twelve uniform numbers have variance 1 together. No sum(): from Python 3.12 on it rounds otherwise.
        total = -6.0
        for _ in range(12):
            total += self._stream.random()
        return total

    def distinct(self, count: int, end: int) -> list[int]:
        """Draw different whole numbers from 0 to end - 1, in the order drawn."""
        drawn: dict[int, None] = {}
        while len(drawn) < count:
            drawn[self.below(end)] = None
        return list(drawn)


def declining(values: Sequence[str]) -> list[tuple[str, int]]:
    """Give the first value the largest share and the last the smallest."""
    return [(value, len(values) + 1 - place) for place, value in enumerate(values)]


def codes_of(category: str, endings: str) -> list[str]:
    """List the codes of a category: its first word, a dot and an ending."""
    return [f"{category.split(maxsplit=1)[0]}.{ending}" for ending in endings.split()]


def age_on(birth: date, day: date) -> int:
    """Count the full years from birth to a day."""
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


def draw_birth(dice: Dice) -> date:
    """Draw a day of birth; the age of the bands is reached in the last year of the data."""
    low, high = dice.weighted([((low, high), share) for low, high, share in AGE_BANDS])
    year = LAST_DAY.year - low - dice.below(high - low + 1)
    days = (date(year + 1, 1, 1) - date(year, 1, 1)).days
    return date(year, 1, 1) + timedelta(days=dice.below(days))


def draw_place(dice: Dice) -> tuple[str, str, str]:
    """Draw zip, city and state by population."""
    city, state, zips = dice.weighted([((city, state, zips), share) for city, state, share, zips in CITIES])
    return dice.weighted(declining(zips.split())), city, state


def draw_weight(dice: Dice, age: int, sex: str) -> int:
    """Draw a weight in kg by age and sex, with a longer tail to the heavy side."""
    column = 1 if sex == "F" else 2
    above = next(place for place, row in enumerate(WEIGHTS) if row[0] >= age)
    left, right = WEIGHTS[max(above - 1, 0)], WEIGHTS[above]
    part = (age - left[0]) / max(right[0] - left[0], 1)
    mean = left[column] + part * (right[column] - left[column])
    spread = left[3] + part * (right[3] - left[3])
    step = dice.bell()
    kilograms = mean + spread * (step + 0.15 * (step * step - 1.0))
    return min(max(int(kilograms + 0.5), LIGHTEST), HEAVIEST)


def draw_insurance(dice: Dice, age: int) -> str:
    """Draw the kind of insurance by age."""
    if age < ADULT:
        return dice.weighted(INSURANCE_CHILD)
    return dice.weighted(INSURANCE_ADULT if age < SENIOR else INSURANCE_SENIOR)


def draw_days(dice: Dice, birth: date) -> list[date]:
    """Draw the days of a person's visits, oldest first, no day twice and none before birth."""
    count = dice.weighted(VISITS_YOUNGER if age_on(birth, LAST_DAY) < SENIOR else VISITS_SENIOR)
    first = max(birth, FIRST_DAY)
    span = (LAST_DAY - first).days + 1
    return [first + timedelta(days=day) for day in sorted(dice.distinct(min(count, span), span))]


def draw_diagnosis(dice: Dice, age: int, sex: str) -> tuple[str, str]:
    """Draw a diagnosis that fits age and sex, and give its chapter along."""
    fitting = [
        ((category, chapter, endings), share)
        for category, chapter, sexes, low, high, share, endings in CATEGORIES
        if sex in sexes and low <= age <= high
    ]
    category, chapter, endings = dice.weighted(fitting)
    return dice.weighted(declining(codes_of(category, endings))), chapter


def draw_department(dice: Dice, chapter: str, age: int) -> str:
    """Draw a department that treats the chapter; most children are in pediatrics whatever they have."""
    department = dice.weighted(CHAPTERS[chapter])
    return "Pediatrics" if age < ADULT and department not in ALSO_FOR_CHILDREN else department


def draw_visits(dice: Dice, birth: date, sex: str) -> tuple[Visit, ...]:
    """Draw all visits of a person; a later visit often is for a diagnosis of an earlier one."""
    had: list[tuple[str, str]] = []
    visits = []
    for day in draw_days(dice, birth):
        age = age_on(birth, day)
        again = dice.happens(REPEATED_DIAGNOSIS_PER_MILLE) and had
        diagnosis, chapter = dice.pick(had) if again else draw_diagnosis(dice, age, sex)
        if chapter not in NOT_REPEATED:
            had.append((diagnosis, chapter))
        visits.append(Visit(day, draw_department(dice, chapter, age), diagnosis))
    return tuple(visits)


def draw_patient(dice: Dice, number: str) -> Patient:
    """Draw one person with all visits."""
    birth = draw_birth(dice)
    age = age_on(birth, LAST_DAY)
    sex = dice.weighted(SEXES)
    place = draw_place(dice)
    first_names = WOMEN if sex == "F" else MEN
    name = f"{dice.pick(first_names.split())} {dice.pick(LAST_NAMES.split())}"
    weight = draw_weight(dice, age, sex)
    return Patient(
        number,
        name,
        birth,
        "" if dice.happens(SEX_MISSING_PER_MILLE) else sex,
        *place,
        "" if dice.happens(WEIGHT_MISSING_PER_MILLE) else str(weight),
        draw_insurance(dice, age),
        draw_visits(dice, birth, sex),
    )


def draw_patients(seed: int = SEED, count: int = PATIENTS) -> list[Patient]:
    """Draw all patients, sorted by a number that tells nothing about them."""
    dice = Dice(seed)
    numbers = [f"P-{1 + drawn:06d}" for drawn in dice.distinct(count, LARGEST_PATIENT_NUMBER)]
    return sorted((draw_patient(dice, number) for number in numbers), key=lambda patient: patient.number)


def person_cells(patient: Patient) -> list[str]:
    """List the cells that both tables begin with."""
    return [
        patient.number,
        patient.name,
        patient.birth.isoformat(),
        patient.sex,
        patient.zip,
        patient.city,
        patient.state,
        patient.weight,
    ]


def visit_cells(visit: Visit) -> list[str]:
    """List department, phone and diagnosis of a visit."""
    phones = {department: PHONE_START + digits for department, _, digits in DEPARTMENTS}
    return [visit.department, phones[visit.department], visit.diagnosis]


def patient_rows(patients: Iterable[Patient]) -> list[list[str]]:
    """List one row per patient, with the most recent visit."""
    return [[*person_cells(patient), *visit_cells(patient.visits[-1]), patient.insurance] for patient in patients]


def visit_rows(patients: Iterable[Patient]) -> list[list[str]]:
    """List one row per visit, in the order of the days."""
    pairs = [(visit.day, patient.number, patient, visit) for patient in patients for visit in patient.visits]
    return [
        [*person_cells(patient), day.isoformat(), *visit_cells(visit)]
        for day, _, patient, visit in sorted(pairs, key=lambda pair: pair[:2])
    ]


def hierarchies() -> dict[str, list[list[str]]]:
    """List the lines of every hierarchy file: leaf first, then its ancestors up to the root."""
    places = [(zips.split(), [city, state, REGIONS[state], "*"]) for city, state, _, zips in CITIES]
    return {
        "zip.csv": [[code, *above] for codes, above in places for code in sorted(codes)],
        "city.csv": [above for _, above in places],
        "state.csv": [[state, region, "*"] for state, region in REGIONS.items()],
        "department.csv": [[department, division, "*"] for department, division, _ in DEPARTMENTS],
        "diagnosis.csv": [
            [code, category, chapter, "*"]
            for category, chapter, _, _, _, _, endings in CATEGORIES
            for code in sorted(codes_of(category, endings))
        ],
    }


def write(path: Path, rows: Iterable[Sequence[str]], separator: str) -> None:
    """Write rows as UTF-8 with Unix line ends on every system."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows)


def generate(folder: Path) -> None:
    """Write both tables and all hierarchies into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    patients = draw_patients()
    write(folder / "patients.csv", [PATIENT_COLUMNS.split(), *patient_rows(patients)], ",")
    write(folder / "visits.csv", [VISIT_COLUMNS.split(), *visit_rows(patients)], ",")
    for name, lines in hierarchies().items():
        write(folder / name, lines, ";")


if __name__ == "__main__":
    generate(FOLDER)
