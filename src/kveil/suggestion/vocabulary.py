"""Words that names of columns are made of, in some languages of Europe, and what a column with one of them may be.

A name is cut at other characters and where small letters meet capitals; accents do not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set

PERSONS = {
    "patient", "person", "customer", "client", "member", "user", "subject", "student", "employee", "individual",
    "participant", "respondent", "citizen", "insured", "beneficiary", "pid", "userid", "patientid", "subjid", "usubjid",
    "ptid", "patno", "patid", "respid", "defendant", "offender", "inmate",
    "paciente", "kunde", "persona", "personne",
}  # fmt: skip
NUMBERING = {
    "id", "ids", "nbr", "no", "num", "number", "key", "uuid", "guid", "index", "idx", "serial", "ref",
    "identifier", "rowid", "record", "nr",
    "numero", "nummer", "fallnummer",
}  # fmt: skip
HOUSEHOLDS = {"household", "hh", "hhid", "hhno", "hhnum", "hhserial", "dwelling", "family", "famid"}
PSEUDONYMS = {"hash", "hashed", "anon", "anonymous", "study", "unique", "code", "pseudonym", "enc", "encrypted"}
COUNTING = {"number", "num", "no", "nr", "index", "count", "total"}  # in front of what is counted
NAMING = {
    "name", "surname", "firstname", "lastname", "fullname", "forename", "givenname", "middlename", "nickname",
    "email", "mail", "phone", "telephone", "tel", "mobile", "fax", "ssn", "passport", "iban", "mrn", "url",
    "website", "ip", "street", "address", "username", "login", "license", "licence", "plate", "nino", "imei",
    "signature", "photo", "author", "uploader", "owner", "contact", "maiden", "initials",
    "vorname", "nachname", "familienname", "nombre", "apellido", "apellidos", "prenom", "nom", "nome",
    "cognome", "sobrenome", "voornaam", "achternaam", "telefon", "telefono", "telefone", "correo", "courriel",
    "adresse", "anschrift", "direccion", "indirizzo", "endereco", "strasse", "calle", "rue", "dni",
}  # fmt: skip
PLAIN_NAMES = {"name", "nom", "nome", "nombre"}  # of persons, or of what another word says
NOT_A_PERSON = {
    "city", "country", "state", "county", "product", "company", "hospital", "department", "school", "file",
    "brand", "drug", "disease", "test", "event", "place", "station", "street", "course", "category", "common",
    "scientific", "species", "class", "type",
    "ort", "stadt", "ville", "ciudad", "comune", "firma", "empresa",
}  # fmt: skip
AGES = {
    "age", "ages", "alter", "yob",
    "agegroup", "ageband", "agecat", "agegrp", "altersgruppe", "edad", "idade", "leeftijd",
}  # fmt: skip
BIRTHS = {
    "birth", "birthdate", "birthday", "dob", "born", "birthyear", "dateofbirth",
    "geburt", "geburtsdatum", "geburtsjahr", "geburtstag", "naissance", "nacimiento", "nascimento", "nascita",
    "geboortedatum",
}  # fmt: skip
SEXES = {
    "sex", "gender", "geschlecht", "female", "male",
    "sexo", "sexe", "sesso", "genero", "geslacht",
}  # fmt: skip
PLACES = {
    "zip", "zipcode", "postcode", "postal", "plz", "postalcode", "city", "town", "village", "municipality",
    "county", "state", "province", "region", "country", "district", "location", "residence", "nation",
    "nationality", "citizenship", "place", "borough", "neighborhood", "neighbourhood", "lat", "lon", "latitude",
    "longitude", "lng", "island", "origin", "precinct", "beat", "sector", "tract",
    "postleitzahl", "codepostal", "codigopostal", "ort", "wohnort", "stadt", "gemeinde", "bundesland", "kanton",
    "canton", "kreis", "ciudad", "municipio", "provincia", "pais", "ville", "commune", "departement", "pays",
    "cidade", "comune", "citta", "regione", "gemeente", "nationalite", "nacionalidad", "staatsangehorigkeit",
}  # fmt: skip
ZIPS = {
    "zip", "zipcode", "postcode", "postal", "plz", "postalcode",
    "postleitzahl", "codepostal", "codigopostal",
}  # fmt: skip
KNOWN_CATEGORIES = {
    "race", "ethnicity", "ethnic", "marital", "married", "education", "degree", "school", "schooling",
    "occupation", "job", "profession", "workclass", "employer", "employment", "relationship", "household",
    "children", "family", "height", "weight", "language", "religion", "department", "ward", "specialty",
    "speciality", "admission", "discharge", "visit", "arrival", "physician", "doctor", "teacher", "grade",
    "position", "title", "rank", "hire", "date", "pclass", "embarked", "cabin", "siblings", "parents", "sibsp",
    "parch", "smoker", "housing", "payer", "insurance", "body", "species", "breed", "club", "team", "year",
    "tenure", "industry", "military", "bmi", "eye", "hair", "ethn", "educ", "edu", "occ", "kids", "child", "black",
    "white", "hispanic", "asian", "religious", "smoke", "experience", "exper", "seniority",
    "work", "dept", "manager", "supervisor", "boss", "beruf", "familienstand", "bildung", "kinder",
    "konfession", "sprache", "gewicht", "profesion", "estadocivil", "hijos", "estudios", "idioma", "peso",
    "altura", "poids", "taille", "enfants", "etatcivil", "langue",
}  # fmt: skip
SECRETS = {
    "diagnosis", "diagnoses", "diag", "disease", "illness", "icd", "icd9", "icd10", "condition", "symptom",
    "treatment", "medication", "drug", "procedure", "therapy", "surgery", "transplant", "arrest", "affiliation",
    "event", "hiv", "result", "salary", "income", "wage", "wages", "pay", "earnings", "credit", "debt", "loan",
    "balance", "score", "politics", "political", "party", "orientation", "criminal", "offense", "offence", "crime",
    "verdict", "outcome", "readmitted", "glucose", "cholesterol", "pregnant", "disability", "cause", "death",
    "survived", "default", "charges", "expenses", "cost", "amount", "payment", "spending", "fare", "test",
    "capital", "wealth", "assets", "savings", "profit", "tax", "pension", "mortgage", "benefit", "benefits",
    "health", "union", "vote", "voted", "ideology", "affair", "affairs", "alive", "dead", "died", "mortality",
    "recid", "recidivism", "recidivist", "charge", "violent", "conviction", "convicted", "sentence", "sentenced",
    "felony", "fel", "misd", "prior", "priors", "custody", "jail", "prison", "bail", "fine", "warrant", "frisk",
    "frisked", "contraband", "citation", "price", "fee", "revenue", "rent", "premium", "usd", "eur", "dollars",
    "amt", "relapse", "remission", "tumor", "tumour", "stage", "biopsy", "viral", "abuse", "alcohol", "depression",
    "suicide",
    "diagnose", "diagnostico", "diagnostic", "krankheit", "befund", "gehalt", "einkommen", "lohn", "schulden",
    "partei", "todesursache", "enfermedad", "salario", "sueldo", "ingresos", "renta", "voto", "vota", "partido",
    "maladie", "salaire", "revenu", "deces", "malattia", "reddito", "stipendio",
}  # fmt: skip
DIAGNOSES = {"diagnosis", "diagnoses", "diag", "icd", "icd9", "icd10", "diagnose", "diagnostico", "diagnostic"}
STUDIED = {"class", "target", "label"}  # what people who learn from tables call the column they predict
# What is not counted: where its values are whole numbers, they stand for something.
CODED = {
    "code", "codes", "type", "category", "group", "kind", "status", "race", "ethnicity", "ethnic", "ethn", "marital",
    "occupation", "occ", "job", "profession", "workclass", "relationship", "religion", "language", "department", "ward",
    "specialty", "speciality", "industry", "state", "province", "region", "country", "county", "district", "city",
    "nationality", "citizenship", "payer", "insurance", "site", "source", "disposition",
} | NUMBERING - COUNTING  # fmt: skip


def without_accents(text: str) -> str:
    """Return a text with its accents taken off: ``Prénom`` is Prenom."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def words_of(name: str) -> list[str]:
    """Return the words of a name: ``patientNbr`` and ``patient_nbr`` are patient, nbr, and ``Prénom`` is prenom."""
    parts = re.split(r"[^A-Za-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", without_accents(name)))
    return [part.lower() for part in parts if part]


def hit(words: list[str], vocabulary: Set[str]) -> str | None:
    """Return the word of a name that a vocabulary has: all words in one, else one of them, with or without digits."""
    whole = "".join(words)
    if whole in vocabulary:
        return whole
    bare = [re.sub(r"\d+$", "", word) for word in words]
    return next((word for word in [*words, *bare] if word in vocabulary), None)
